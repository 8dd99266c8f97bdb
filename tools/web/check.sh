#!/bin/sh
# Types, linter and unit tests of the JavaScript, where there is a node to run them; torseur itself never needs it.
cd "$(dirname "$0")" || exit 1

skip() {
    echo "JavaScript not checked: $1."
    exit 0
}

command -v npm >/dev/null 2>&1 || skip "npm is not installed"
node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' || skip "node $(node --version) is older than 20.19"

# Versions are exact in package.json; a lock file would name a registry.
if [ ! -e node_modules/.installed ] || [ package.json -nt node_modules/.installed ]; then
    npm install --no-package-lock --no-audit --no-fund --loglevel=error >/dev/null 2>&1 || skip "npm could not install its tools"
    touch node_modules/.installed
fi
npm run --silent bundle -- --check && npm run --silent types && npm run --silent lint && npm run --silent test
