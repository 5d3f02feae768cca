import { startPostgres } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { afterAll, expect, test } from 'vitest'
import { exportedEntries } from '../packages/cli/src/selftest/exported-entries.ts'
import { createDatabase, query } from '../packages/server/src/storage/postgres/testing.ts'
import { openDatabaseAddress, portOf } from './support/database-address.ts'
import { Installation, invoke, pause, type Run } from './support/server.ts'

const primary = await startPostgres()
const standby = 'url' in primary ? await primary.startStandby() : null
afterAll(async () => {
  await standby?.stop()
  if ('stop' in primary) await primary.stop()
})

const callers = 6

/** Sets values one after the other until it is told to stop; those that were acknowledged are kept. */
const setValues = async (
  run: Run,
  token: string,
  { set, stopped }: { readonly set: Set<string>; readonly stopped: AbortSignal },
  caller: number,
): Promise<void> => {
  for (let n = 0; !stopped.aborted; n += 1) {
    const key = `load/${caller}-${n}`
    const answer = await invoke(run, token, 'state.set', { key, value: n }).catch(() => null)
    if (answer?.result?.success === true) set.add(key)
    else await pause(20)
  }
}

test.skipIf(standby === null)(
  'a standby that is promoted under load has all that was acknowledged, and the service goes on by itself',
  async () => {
    if (!standby || !('url' in primary)) throw new Error('There is no standby.')
    // It ends with the server that it is on.
    const database = await createDatabase(primary.url)
    using address = await openDatabaseAddress(portOf(database.url))
    const url = new URL(database.url)
    url.port = String(address.port)
    await using gate = new Installation()
    const run = await gate.start(['--database-url', url.href])
    const { token } = await gate.createAgent('load')

    const stopped = new AbortController()
    const load = { set: new Set<string>(), stopped: stopped.signal }
    const running = Array.from({ length: callers }, (_, i) => setValues(run, token, load, i))
    await until(async () => load.set.size >= 150)
    await primary.crash()
    address.pointTo(null)
    await standby.promote()
    const [inBetween] = [load.set.size]
    address.pointTo(portOf(standby.url))
    await until(async () => load.set.size >= inBetween + 150)
    stopped.abort()
    await Promise.all(running)

    const survivor = new URL(database.url)
    survivor.port = String(portOf(standby.url))
    const [stored] = await query(survivor.href, `select key from state where key like 'load/%'`)
    const keys = new Set((stored?.rows as { key: string }[]).map(({ key }) => key))
    expect([...load.set].filter((key) => !keys.has(key))).toEqual([])
    const recorded = new Set(
      (await exportedEntries(gate))
        .filter(({ capability, result }) => capability === 'state.set' && result === 'success')
        .map(({ arguments: args }) => args['key']),
    )
    expect([...load.set].filter((key) => !recorded.has(key))).toEqual([])
    expect(await gate.json(['audit', 'verify'])).toMatchObject({ integrity: 'verified' })
    // In one look, since the service goes on.
    const [found] = await query(
      survivor.href,
      'select counted, (select count(*) from audit_copies) as copies from audit_progress',
    )
    const [progress] = found?.rows as { counted: string; copies: string }[]
    expect(Number(progress?.copies)).toBe(Number(progress?.counted))
    await gate.stop()
  },
)
