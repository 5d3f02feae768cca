import { parentPort } from 'node:worker_threads'
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite'
import type { CommitGroup } from '../../ports/audit-rows.ts'
import type { FramePlace } from '../../ports/storage.ts'
import { GroupCommit, type Runner } from './group-commit.ts'
import type { IndexAnswer, IndexerData, IndexJob } from './index-behind.ts'

/** A connection without what the adapter brings along: this thread is there for as long as the service runs. */
const connect = ({ file, pragmas }: IndexerData) => {
  const database = new DatabaseSync(file, { timeout: 5_000 })
  for (const pragma of pragmas) database.exec(pragma)
  const statements = new Map<string, StatementSyncInstance>()
  const prepare = (text: string): StatementSyncInstance => {
    const known = statements.get(text)
    if (known) return known
    const statement = database.prepare(text)
    statements.set(text, statement)
    return statement
  }
  const runner: Runner = {
    run(text, values) {
      const statement = prepare(text)
      if (/^\s*(select|pragma)\b/i.test(text))
        return { rows: statement.all(...values) as Record<string, unknown>[], changes: 0 }
      return { rows: [], changes: statement.run(...values).changes }
    },
  }
  return { database, runner }
}

/** The other side of `BehindIndex`. `read` gives the groups that lie at a place of the log. */
export const answerIndexJobs = (
  data: IndexerData,
  read: (place: FramePlace) => Iterable<CommitGroup>,
): void => {
  const { database, runner } = connect(data)
  const groups = new GroupCommit(runner, data.texts)
  // Moves with commits of other connections only.
  const version = () => Object.values(runner.run('pragma data_version', []).rows[0] ?? {})[0]
  let seen = version()
  const answer = ({ places, others }: IndexJob): IndexAnswer => {
    try {
      database.exec('begin immediate')
      const foreign = !others && version() !== seen
      for (const place of places) for (const group of read(place)) groups.store(group)
      database.exec('commit')
      seen = version()
      return { foreign }
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      const { errcode } = error as { errcode?: number }
      return { message: (error as Error).message, errcode }
    }
  }
  parentPort?.on('message', (job: IndexJob) => parentPort?.postMessage(answer(job)))
  parentPort?.on('close', () => database.close())
}
