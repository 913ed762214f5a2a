// Compiles FakeUSDC.sol to FakeUSDC.json, offline, with the pinned npm solc:
//   node compile.mjs FOLDER    where FOLDER/node_modules holds solc (npm ci in a copy of this folder)
// evmVersion paris: later ones use opcodes that some chains of test lack. viaIR: else nine arguments are too many.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const solc = createRequire(resolve(process.argv[2], "package.json"))("solc");
const here = new URL(".", import.meta.url);
const input = {
  language: "Solidity",
  sources: { "FakeUSDC.sol": { content: readFileSync(new URL("FakeUSDC.sol", here), "utf8") } },
  settings: {
    evmVersion: "paris",
    viaIR: true,
    optimizer: { enabled: true, runs: 200 },
    metadata: { bytecodeHash: "none" },
    outputSelection: { "*": { FakeUSDC: ["evm.deployedBytecode.object"] } },
  },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
for (const fault of output.errors ?? []) console.error(fault.formattedMessage);
if (output.errors?.length) process.exit(1);
const runtime = "0x" + output.contracts["FakeUSDC.sol"].FakeUSDC.evm.deployedBytecode.object;
writeFileSync(new URL("FakeUSDC.json", here), JSON.stringify({ compiler: solc.version(), runtime }, null, 1) + "\n");
