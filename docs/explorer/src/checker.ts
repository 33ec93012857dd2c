/** The worker that runs the library's own checker, as it stands, in Python compiled to WebAssembly. */

import type { PyodideInterface } from "pyodide";

/** Reads a document as every reader of the library does, and returns its verdict. */
const VERIFY = `
import json
from mechdesign.kernel.documents import parse
from mechdesign.kernel.verify import verify
from mechdesign.errors import MechdesignError

def verdict(text):
    try:
        document = parse(text)
    except (ValueError, RecursionError) as error:
        return json.dumps({"verified": False, "lines": [f"no JSON file: {error}"]})
    try:
        claims = verify(document).claims
    except MechdesignError as error:
        return json.dumps({"verified": False, "lines": [str(error)]})
    return json.dumps({"verified": True, "lines": list(claims)})

verdict
`;

async function start(): Promise<(text: string) => string> {
  const place = new URL("./pyodide/", import.meta.url).href;
  const [{ loadPyodide }, files] = await Promise.all([
    import(/* @vite-ignore */ `${place}pyodide.mjs`) as Promise<{
      loadPyodide: (options: object) => Promise<PyodideInterface>;
    }>,
    fetch(new URL("./checker.json", import.meta.url)).then((r) => r.json() as Promise<Record<string, string>>),
  ]);
  const python = await loadPyodide({ indexURL: place });
  for (const [name, text] of Object.entries(files)) {
    const path = `/checker/${name}`;
    python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    python.FS.writeFile(path, text);
  }
  python.runPython("import sys; sys.path.insert(0, '/checker')");
  return python.runPython(VERIFY) as (text: string) => string;
}

let started: Promise<(text: string) => string> | null = null;

self.onmessage = async ({ data }: MessageEvent<{ id: number; text: string }>) => {
  try {
    const verdict = await (started ??= start());
    self.postMessage({ id: data.id, result: JSON.parse(verdict(data.text)) });
  } catch (error) {
    self.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
  }
};
