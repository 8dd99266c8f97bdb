// Bundles CodeMirror for the studio, with the licences of what is in it:
//
//     npm run bundle              writes the file
//     npm run bundle -- --check   says whether the file that is there is the one that would be written
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const VENDOR = here("../../src/torseur/presentation/studio/assets/js/vendor/");

const { outputFiles: [{ text }], metafile } = await build({
  entryPoints: [here("codemirror.js")], bundle: true, minify: true, format: "esm", target: "es2022", charset: "utf8",
  legalComments: "none", write: false, metafile: true, absWorkingDir: here("."),
});
const names = [...new Set(Object.keys(metafile.inputs).map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean))].sort();
const packages = names.map((name) => ({ name, ...JSON.parse(readFileSync(here(`node_modules/${name}/package.json`), "utf8")) }));
const banner = `// Bundled by tools/web/bundle.js; licences in codemirror.LICENSE.txt. ${packages.map(({ name, version }) => `${name} ${version}`).join(", ")}\n`;

const files = {
  "codemirror.js": banner + text,
  "codemirror.LICENSE.txt": packages.map(({ name, version }) => `${name} ${version}\n\n${readFileSync(here(`node_modules/${name}/LICENSE`), "utf8").trim()}\n`).join("\n----\n\n"),
};
const stale = Object.entries(files).filter(([name, content]) => { try { return readFileSync(VENDOR + name, "utf8") !== content; } catch { return true; } });
if (process.argv.includes("--check")) {
  if (stale.length) console.error(`${stale.map(([name]) => name).join(" and ")} must be bundled again: npm run bundle, in tools/web`);
  process.exitCode = stale.length ? 1 : 0;
} else {
  for (const [name, content] of stale) writeFileSync(VENDOR + name, content);
  console.log(`codemirror.js: ${Math.round(Buffer.byteLength(files["codemirror.js"]) / 1000)} kB`);
}
