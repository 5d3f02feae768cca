import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { root } from './run.mjs'

const bin = path.join(root, 'packages/cli/bin/gatehouse.js')

/**
 * Runs the selftest with these options and keeps its report in a folder; progress and errors go to our own stream. A run
 * without a report leaves the one before.
 *
 * @param {readonly string[]} options
 * @param {string} folder
 * @returns {Promise<number>} its exit code
 */
export const keepReport = async (options, folder) => {
  const child = spawn(process.execPath, [bin, 'selftest', '--json', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (printed.trim() === '') {
    console.error('The selftest printed no report; the one before is kept.')
    return code || 1
  }
  const report = { options, ...JSON.parse(printed) }
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`)
  return code ?? 1
}
