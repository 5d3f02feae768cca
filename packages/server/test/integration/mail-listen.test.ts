import { mailTimeouts } from '@gatehouse/server/proxy/adapters/mail/open-imap'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { TcpGate } from '@gatehouse/testkit/mail-server/tcp-gate'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { elsewhere, mailText, openRig } from '../mail/kit.ts'

const listening = async (port: number, idleMs = mailTimeouts.idleMs) => {
  const rig = await openRig({ imapPort: port }, null)
  Object.assign(rig.account.timeouts, { idleMs })
  const ended = new AbortController()
  let heard = 0
  const done = rig.adapter.listen?.(rig.account, () => (heard += 1), ended.signal)
  if (!done) throw new Error('the mail adapter does not listen')
  return {
    heard: () => heard,
    done,
    end: () => ended.abort(),
    async [Symbol.asyncDispose]() {
      ended.abort()
      await done.catch(() => undefined)
      await rig[Symbol.asyncDispose]()
    },
  }
}

/** Hears something new, trying again: the first may come before the listening. */
const hears = (listener: { heard(): number }, change: () => Promise<unknown>) => {
  const before = listener.heard()
  return expect
    .poll(
      async () => {
        await change()
        return listener.heard() - before
      },
      { interval: 500 },
    )
    .toBeGreaterThan(0)
}

describe.skipIf(!hasProgram('dovecot'))('listening to a mailbox', () => {
  test('new mail, flags and deletions are told at once, also after a long silence', async () => {
    await using server = await Dovecot.start()
    await using gate = await TcpGate.open(server.imapPort)
    await using listener = await listening(gate.port, 15_000)
    let n = 0
    const deliver = () =>
      elsewhere(server, 'INBOX', (client) =>
        client.append('INBOX', mailText({ Subject: `News ${n++}` })),
      )
    await hears(listener, deliver)
    // The silence that is allowed here is short: the client looks at the line again and again.
    const { sent } = gate
    await expect.poll(() => gate.sent - sent).toBeGreaterThanOrEqual(4)
    await hears(listener, deliver)
    await hears(listener, () =>
      elsewhere(server, 'INBOX', (client) => client.messageFlagsAdd('1', [`$n${n++}`])),
    )
    await hears(listener, () => elsewhere(server, 'INBOX', (client) => client.messageDelete('1')))
    expect(listener.heard()).toBeGreaterThanOrEqual(4)
  })

  test('it ends with its signal, and with the line', async () => {
    await using server = await Dovecot.start()
    await using listener = await listening(server.imapPort)
    listener.end()
    await listener.done
    await using gate = await TcpGate.open(server.imapPort)
    await using cut = await listening(gate.port)
    await expect.poll(() => gate.connections).toBe(1)
    await gate.down()
    await cut.done.catch(() => undefined)
  })
})
