import { isUnderWay, readJournal } from '../imports/import-journal.ts'
import { type Check, fine, warn } from './run-checks.ts'

const interrupted = {
  import: 'one was interrupted; what it has done is undone first',
  undo: 'the undo of one was interrupted, and can be completed',
} as const

/** Null without an import that has not ended. */
export const importCheck: Check = {
  name: 'Import',
  async run({ dataDir }) {
    const journal = await readJournal(dataDir)
    if (!journal) return null
    const { kind, pid } = journal
    if (isUnderWay(journal)) return fine(`one is under way as process ${pid}`)
    return warn(interrupted[kind], `gatehouse import${kind === 'undo' ? ' --undo' : ''}`)
  },
}
