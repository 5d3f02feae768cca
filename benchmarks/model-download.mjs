// P12: a model fetched over HTTPS, hashed and written, next to a plain program that does the same (Y5). Server
// and client share the machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load, median, root, stopChild, temporaryFolder } from './lib.mjs'

const size = 512 * 1024 * 1024
const mebi = 1024 * 1024

export const modelDownload = async ({ rounds }) => {
  const { folder, remove } = temporaryFolder()
  const script = join(root, 'benchmarks/yardsticks/https-file.mjs')
  const child = spawn(process.execPath, [script, String(size)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = await once(child.stdout, 'data')
    const { port, ca, sha256 } = JSON.parse(String(line))
    const url = `https://127.0.0.1:${port}/model.gguf`
    const caFile = join(folder, 'ca.pem')
    writeFileSync(caFile, ca)
    const plain = []
    const installs = []
    for (let round = 0; round < rounds; round += 1) {
      const target = join(folder, 'plain.bin')
      plain.push(await load('../yardsticks/https-hash-write.mjs', url, caFile, target))
      rmSync(target)
      const models = join(folder, 'models')
      installs.push(await load('model-install.mjs', url, caFile, models, sha256, size))
      rmSync(models, { recursive: true })
    }
    const rate = (results, key = 'bytes_per_second') =>
      median(results.map((result) => result[key])) / mebi
    const rss = (results) => median(results.map((result) => result.rss_mib))
    const row = (what, value, yardstick, bar) => ({
      id: 'P12',
      what,
      value,
      yardstick,
      ratio: yardstick === null ? null : value / yardstick,
      bar,
    })
    return [
      row('model download with hash and write (MiB/s)', rate(installs), rate(plain), '≥ 0.7'),
      row('the same, most memory of the process (MiB)', rss(installs), rss(plain), '≤ 130'),
      row(
        'an installed file hashed again (MiB/s)',
        rate(installs, 'rehash_bytes_per_second'),
        null,
        '–',
      ),
    ]
  } finally {
    await stopChild(child)
    remove()
  }
}
