// Reads lines "input bytes report", and prints how many reports of the client are others; with a
// second argument also the counts of that many draws from the system.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, file, draws] = process.argv.slice(2);
const { Client } = await import(pathToFileURL(`${folder}/mechdesign_client.mjs`));
const table = JSON.parse(readFileSync(`${folder}/mechdesign_table.json`, "utf8"));
let bytes, used;
const played = (out) => {
  if (used + out.length > bytes.length) throw new Error("no more bytes");
  out.set(bytes.subarray(used, (used += out.length)));
};
const client = new Client(table, { random: played });
const scan = client.alias && new Client(table, { random: played, constantTime: true });
let [lines, wrong] = [0, 0];
for (const line of readFileSync(file, "utf8").trim().split("\n")) {
  const [input, hex, wanted] = line.split(" ");
  bytes = Buffer.from(hex, "hex");
  for (const one of scan ? [client, scan] : [client]) {
    used = 0;
    const report = one.drawNumber(Number(input));
    const text = typeof report === "number" ? String(report) : Buffer.from(report).toString("hex");
    wrong += text !== wanted || used !== bytes.length;
  }
  lines++;
}
console.log(lines, wrong);
if (draws) {
  const [counts, live] = [Array(client.outputs.size).fill(0), new Client(table)];
  for (let n = 0; n < Number(draws); n++) counts[live.drawNumber(0)]++;
  console.log(...counts);
}
