// npm run pack [-- FOLDER]: the packages as they are published, as tarballs.
import './lib/require-node.mjs'
import path from 'node:path'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { packAll } from './lib/release/pack.mjs'

const [into] = process.argv.slice(2)
const failed = (await ensureInstalled()) || (await build())
if (failed) process.exitCode = failed
else
  for (const { file, packedBytes, unpackedBytes } of await packAll(
    into ? { into: path.resolve(into) } : {},
  ))
    console.log(
      `${file} (${(packedBytes / 1e6).toFixed(2)} MB, ${(unpackedBytes / 1e6).toFixed(2)} MB unpacked)`,
    )
