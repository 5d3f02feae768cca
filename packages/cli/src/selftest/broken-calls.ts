import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { counted } from '../counted.ts'
import { type Attempt, attempt, withinMs } from './attempt.ts'
import { type Entry, exportedEntries } from './exported-entries.ts'
import { HostileSocket } from './hostile-socket.ts'
import { type Installation, invoke, rpc } from './installation.ts'
import type { Ready } from './load-agent.ts'
import { patientFetch } from './patient-fetch.ts'
import { call, request } from './raw-request.ts'
import { bySize, firstOf, type SectionContext } from './section.ts'

/** Whether the entry is that with which a call began; a request that waits for a person is pending, too. */
const isBegun = ({ agent, capability, result }: Entry, of: string): boolean =>
  agent === of && capability === 'filesystem.append' && result === 'pending'

/** Calls that began and whose end nobody wrote down. */
const openCalls = (entries: readonly Entry[], agent: string): string[] => {
  const ended = new Set(entries.map(({ intent_id }) => intent_id))
  return entries
    .filter((entry) => isBegun(entry, agent) && !ended.has(entry.id))
    .map(({ id }) => id)
}

const revoke = async ({ run, userToken }: Ready, agent: string): Promise<number> => {
  const { status } = await patientFetch(`${run.user_api_url}/api/agents/${agent}/revoke`, {
    ...{ method: 'POST', body: '{}' },
    headers: { authorization: `Bearer ${userToken}`, 'content-type': 'application/json' },
  })
  return status
}

/** An agent that loses its token while it has calls under way on several connections. */
const revoked = (gate: Installation, ready: Ready): Attempt =>
  attempt('W10 T05 calls of an agent whose token is revoked', async () => {
    const { token, workspace } = await gate.createAgent('revoked')
    mkdirSync(workspace, { recursive: true })
    const file = join(workspace, 'calls.log')
    writeFileSync(file, '')
    const sockets: HostileSocket[] = []
    for (let i = 0; i < 5; i += 1) {
      const socket = await HostileSocket.open(ready.run, token)
      if (typeof socket === 'number') return `an upgrade answered ${socket}`
      sockets.push(socket)
    }
    const begun = sockets.map((socket) => socket.next())
    for (const socket of sockets)
      for (let id = 0; id < 60; id += 1)
        socket.call(id, 'filesystem__append', { path: 'calls.log', content: `${id}\n` })
    await withinMs(Promise.all(begun))
    const status = await revoke(ready, 'revoked')
    if (status !== 200) return `the revocation answered ${status}`
    const endings = await Promise.all(sockets.map((socket) => withinMs(socket.ended)))
    if (endings.includes(null)) return 'a connection stayed open'
    const entries = await exportedEntries(gate)
    const ran = readFileSync(file, 'utf8')
    const { error } = await rpc(ready.run, token, 'capabilities.list')
    if (error?.code !== -32003) return 'the token still opens /rpc'
    const at = entries.findLastIndex(({ capability }) => capability === 'agent.revoked')
    const late = new Set(
      entries
        .slice(at)
        .filter((entry) => isBegun(entry, 'revoked'))
        .map(({ id }) => id),
    )
    // Calls whose first entry was under way are on record, and end without having run.
    const ranLate = entries.filter(
      ({ intent_id, result }) => intent_id !== null && late.has(intent_id) && result === 'success',
    )
    if (at < 0) return 'the revocation is not in the log'
    if (ranLate.length > 0) return `${counted(ranLate.length, 'call')} ran after the revocation`
    const open = openCalls(entries, 'revoked')
    if (open.length > 0) return `calls without an outcome: ${firstOf(open)}`
    return readFileSync(file, 'utf8') === ran ? null : 'a call ran after the connections had ended'
  })

/** A request whose connection is reset as soon as it was sent. */
const sendAndReset = ({ run, token }: Ready, body: string): Promise<void> =>
  new Promise((resolve) => {
    const { port } = new URL(run.gateway_url)
    const socket = connect({ port: Number(port), host: '127.0.0.1' }, () => {
      const sent = request({ Authorization: `Bearer ${token}` }, body)
      socket.write(sent, () => {
        socket.resetAndDestroy()
        resolve()
      })
    })
    socket.on('error', () => resolve())
  })

const reset = (context: SectionContext, gate: Installation, ready: Ready): Attempt =>
  attempt('W11 connections that are reset in the middle of a call', async () => {
    const count = bySize(context, 40, 500, 1_000)
    for (let i = 0; i < count; i += 1) {
      const args = { path: 'reset.log', content: `${i}\n` }
      if (i % 2 === 0) await sendAndReset(ready, call('filesystem.append', args))
      else {
        const socket = await HostileSocket.open(ready.run, ready.token)
        if (typeof socket === 'number') return `an upgrade answered ${socket}`
        socket.call(i, 'filesystem__append', args)
        // Some are cut before they are read, some while they run.
        if (i % 4 === 1) await withinMs(socket.next())
        socket.reset()
      }
    }
    const { result } = await invoke(ready.run, ready.token, 'system.time')
    if (result?.success !== true) return 'an honest call is not answered after it'
    for (let tries = 0; ; tries += 1) {
      const entries = await exportedEntries(gate)
      const open = openCalls(entries, 'selftest')
      if (open.length === 0) return null
      if (tries === 20) return `calls without an outcome: ${firstOf(open)}`
    }
  })

/** Calls that are cut off, by their connection or by an operator: each that began has its outcome in the log. */
export const brokenCalls = (
  context: SectionContext,
  gate: Installation,
  ready: Ready,
): Attempt[] => [revoked(gate, ready), reset(context, gate, ready)]
