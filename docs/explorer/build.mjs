// Builds the page into dist/: static files, which any web server can offer.
// `--package` also copies them into the library, where a wheel takes them from.
// `--tests` builds only what the tests run in Node, into .tests/.

import { build } from "esbuild";
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const library = path.join(here, "..", "..", "mechdesign");
const dist = path.join(here, "dist");

const common = {
  bundle: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
  absWorkingDir: here,
};

// The checker, as it stands in the library: the files that `mechdesign.kernel.verify` imports. The
// package itself is empty here, as its names need other packages.
const CHECKER = ["errors.py", "exact", "resources.py", "kernel"];

async function sources(name) {
  const place = path.join(library, name);
  if (/\.pyi?$/.test(name)) return [[`mechdesign/${name}`, await readFile(place, "utf8")]];
  const entries = (await readdir(place)).filter((entry) => !entry.startsWith("__pycache__")).sort();
  const parts = await Promise.all(entries.map((entry) => sources(`${name}/${entry}`)));
  return parts.flat();
}

async function buildPage() {
  await rm(dist, { recursive: true, force: true });
  await mkdir(path.join(dist, "pyodide"), { recursive: true });
  await build({
    ...common,
    entryPoints: { explorer: "src/main.ts", solver: "src/solver.ts", checker: "src/checker.ts" },
    outdir: dist,
    minify: true,
    external: ["module", "node:*", "fs", "path", "crypto", "url", "vm", "child_process", "worker_threads"],
  });
  for (const name of ["index.html", "explorer.css", "atlas.json"]) {
    await cp(path.join(here, name), path.join(dist, name));
  }
  const packages = path.join(here, "node_modules");
  await cp(path.join(packages, "highs", "build", "highs.wasm"), path.join(dist, "highs.wasm"));
  for (const name of [
    "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
  ]) {
    await cp(path.join(packages, "pyodide", name), path.join(dist, "pyodide", name));
  }
  const files = [["mechdesign/__init__.py", ""], ...(await Promise.all(CHECKER.map(sources))).flat()];
  await writeFile(path.join(dist, "checker.json"), JSON.stringify(Object.fromEntries(files)));
}

async function buildTests() {
  await build({
    ...common,
    entryPoints: { node: "src/node.ts" },
    outdir: path.join(here, ".tests"),
    outExtension: { ".js": ".mjs" },
    platform: "node",
    external: ["highs"],
  });
}

async function copyIntoLibrary() {
  const place = path.join(library, "explorer_page");
  await rm(place, { recursive: true, force: true });
  await cp(dist, place, { recursive: true });
}

await (process.argv.includes("--tests") ? buildTests() : buildPage());
if (process.argv.includes("--package")) await copyIntoLibrary();
