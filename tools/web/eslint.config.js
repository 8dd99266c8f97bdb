// Rules beyond types: what tsc cannot see. Imports are resolved from here, so that the project's root has no node_modules.
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/vendor/**", "**/node_modules/**"] },
  js.configs.recommended,
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off", // tsc knows better
      "no-unused-vars": ["error", { args: "after-used", argsIgnorePattern: "^_", caughtErrors: "none" }],
      "array-callback-return": "error",
      "eqeqeq": "error",
      "no-constant-binary-expression": "error",
      "no-eval": "error",
      "no-implicit-globals": "error",
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "no-throw-literal": "error",
      "no-unmodified-loop-condition": "error",
      "no-unreachable-loop": "error",
      "no-useless-return": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "id-denylist": ["error", "found", "made", "told", "asked", "settled", "data2", "tmp"],
    },
  },
  { files: ["**/tests/web/**", "**/tools/web/**"], languageOptions: { globals: globals.node } },
];
