import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { IdleLogs, logFolder, SiblingLogs } from '../../src/log/sibling-logs.ts'
import { frameAt } from '../../src/log/testing.ts'
import { type Bench, openBench } from './log-bench.ts'

export const by = { actor: 'user:ann', request_id: 'req-1' }

/** A process, and the logs of two others that are no more. */
export const openBesideGone = async () => {
  const gone = await Promise.all(['left', 'lost'].map((chain) => openBench({ chain })))
  const folders = gone.map(({ directory }) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-gone-'))
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
    fs.symlinkSync(directory, path.join(folder, logFolder))
    return folder
  })
  for (const bench of gone) {
    await bench.fill(6)
    await bench.close()
  }
  const first = await openBench({
    chain: 'first',
    get siblings() {
      const all = () => folders
      return { all: new SiblingLogs(all), idle: new IdleLogs(all), isFirst: true }
    },
  })
  await first.fill(1)
  return {
    first,
    gone: gone as [Bench, Bench],
    [Symbol.asyncDispose]: async () => {
      for (const bench of [first, ...gone]) await bench[Symbol.asyncDispose]()
    },
  }
}

/** Changes an entry in the files of a log. */
export const forge = ({ directory }: Bench, seq: number): void => {
  const { file } = frameAt(directory, seq)
  const bytes = fs.readFileSync(file)
  bytes.write('XX', bytes.indexOf(`notes/${seq}.md`))
  fs.writeFileSync(file, bytes)
}
