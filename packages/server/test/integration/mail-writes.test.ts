import type { JsonObject } from '@gatehouse/server/ports/json'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { TcpGate } from '@gatehouse/testkit/mail-server/tcp-gate'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { type MailRig, mailText, never, openRig, outgoing, stand } from '../mail/kit.ts'

const raw = (n: number) =>
  mailText({ Subject: `Letter ${n}`, 'Message-ID': `<l-${n}@example.net>` })

const imapFlags = async (rig: MailRig, folder: string) =>
  (await rig.list(folder))
    .map(({ title, body }) => `${title}: ${String(body['imap_flags'])}`)
    .toSorted()

/** A mailbox with letters in INBOX, read once. */
const mailbox = async (options: { hides?: string[] } = {}) => {
  const server = await Dovecot.start(options)
  const flags = [[], ['\\Seen'], ['\\Seen', '\\Flagged'], ['\\Answered']]
  for (const [n, list] of flags.entries()) server.maildir().put('INBOX', raw(n), list)
  const rig = await openRig(server, null)
  await rig.sync()
  return {
    server,
    rig,
    mail: server.maildir(),
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

const relocations = [
  { operation: 'move', args: { folder: 'Archive' } as JsonObject, to: 'Archive' },
  { operation: 'delete', args: {} as JsonObject, to: 'Trash' },
]
const servers = [
  { hides: [] as string[], what: 'with MOVE' },
  { hides: ['MOVE', 'CONDSTORE', 'QRESYNC'], what: 'without MOVE' },
]

describe.skipIf(!hasProgram('dovecot'))('changing a mailbox', () => {
  test.for(relocations.flatMap((one) => servers.map((server) => ({ ...one, ...server }))))(
    '$operation takes messages elsewhere, proves it, and brings them back byte by byte: $what',
    async ({ operation, args, to, hides }) => {
      await using box = await mailbox({ hides })
      const { rig, mail } = box
      const before = stand(mail.list('INBOX'))
      const messages = (await rig.targets('INBOX')).slice(0, 3)
      const write = rig.write(operation, { ...args, messages })
      const capture = await rig.capture(write)
      expect(await rig.prove(write, capture)).toEqual({ kind: 'not_executed' })
      const done = await rig.execute(write, capture)
      expect(done).toMatchObject({ kind: 'executed', result: { moved: 3, folder: to } })
      expect(mail.list('INBOX')).toHaveLength(1)
      expect(mail.list(to)).toHaveLength(3)
      expect(await rig.prove(write, capture)).toMatchObject({ kind: 'executed' })
      // A second attempt, as after a crash: nothing happens twice.
      expect(await rig.execute(write, capture)).toMatchObject({ kind: 'executed' })
      expect(mail.list(to)).toHaveLength(3)
      const result = done.kind === 'executed' ? done.result : null
      expect(await rig.planUndo(write, capture, result)).toMatchObject({ kind: 'possible' })
      expect(await rig.undo(write, capture, result)).toMatchObject({ kind: 'undone' })
      expect(stand(mail.list('INBOX'))).toEqual(before)
      expect(mail.list(to)).toHaveLength(0)
      expect(await rig.undo(write, capture, result)).toMatchObject({ kind: 'undone' })
      expect(stand(mail.list('INBOX'))).toEqual(before)
    },
  )

  test('the replica shows a move at once, as the next sync would', async () => {
    await using box = await mailbox()
    const { rig } = box
    const write = rig.write('move', { folder: 'Archive', messages: await rig.targets('INBOX') })
    const done = await rig.execute(write, await rig.capture(write))
    if (done.kind !== 'executed') throw new Error(done.kind)
    await rig.replica.apply('mail', done.changes ?? [], 99)
    const shown = [await imapFlags(rig, 'INBOX'), await imapFlags(rig, 'Archive')]
    await rig.sync()
    expect([await imapFlags(rig, 'INBOX'), await imapFlags(rig, 'Archive')]).toEqual(shown)
    expect(shown[0]).toEqual([])
    expect(shown[1]).toHaveLength(4)
  })

  test('a message that has another state now is not moved back: the difference is named', async () => {
    await using box = await mailbox()
    const { rig } = box
    const write = rig.write('delete', { messages: await rig.targets('INBOX') })
    const capture = await rig.capture(write)
    await rig.execute(write, capture)
    await box.rig.account.imap('use', never, async (client) => {
      await client.mailboxOpen('Trash')
      await client.messageFlagsAdd('1', ['\\Flagged'], { uid: true })
      await client.messageDelete('2', { uid: true })
    })
    const plan = await rig.planUndo(write, capture)
    expect(plan).toMatchObject({ kind: 'refused' })
    expect(plan.kind === 'refused' && plan.differences).toHaveLength(2)
    expect(await rig.undo(write, capture)).toMatchObject({ kind: 'refused' })
    expect(box.mail.list('INBOX')).toHaveLength(0)
  })

  test('flags are set, proved, and given back exactly as each message had them', async () => {
    await using box = await mailbox()
    const { rig } = box
    const before = await imapFlags(rig, 'INBOX')
    const messages = await rig.targets('INBOX')
    const args = { messages, add: ['\\Seen', 'todo'], remove: ['\\Flagged'] }
    const write = rig.write('flag', args)
    const capture = await rig.capture(write)
    expect(await rig.prove(write, capture)).toEqual({ kind: 'not_executed' })
    expect(await rig.execute(write, capture)).toMatchObject({
      kind: 'executed',
      result: { flagged: 4 },
    })
    await rig.sync()
    expect(await imapFlags(rig, 'INBOX')).toEqual([
      'Letter 0: \\Seen,todo',
      'Letter 1: \\Seen,todo',
      'Letter 2: \\Seen,todo',
      'Letter 3: \\Answered,\\Seen,todo',
    ])
    expect(await rig.prove(write, capture)).toMatchObject({ kind: 'executed' })
    expect(await rig.undo(write, capture)).toMatchObject({ kind: 'undone' })
    await rig.sync()
    expect(await imapFlags(rig, 'INBOX')).toEqual(before)
  })

  test('flags that somebody changed since are left alone', async () => {
    await using box = await mailbox()
    const { rig } = box
    const write = rig.write('flag', {
      messages: await rig.targets('INBOX'),
      add: ['\\Seen'],
      remove: [],
    })
    const capture = await rig.capture(write)
    await rig.execute(write, capture)
    await rig.account.imap('use', never, async (client) => {
      await client.mailboxOpen('INBOX')
      await client.messageFlagsAdd('1', ['mine'], { uid: true })
    })
    expect(await rig.undo(write, capture)).toMatchObject({
      kind: 'refused',
      differences: ['"Letter 0" has the flags \\Seen mine, and not \\Seen'],
    })
  })

  test('a message that an earlier write has moved is found where it is now, and goes back there', async () => {
    await using box = await mailbox()
    const { rig, mail } = box
    const messages = (await rig.targets('INBOX')).slice(0, 1)
    const moved = rig.write('move', { folder: 'Archive', messages })
    await rig.execute(moved, await rig.capture(moved))
    const between = stand(mail.list('Archive'))
    const flag = rig.write('flag', { messages, add: ['\\Flagged'], remove: [] })
    const flagged = await rig.capture(flag)
    expect(await rig.execute(flag, flagged)).toMatchObject({ kind: 'executed' })
    expect(mail.list('Archive').map(({ flags }) => flags.includes('F'))).toEqual([true])
    expect(await rig.undo(flag, flagged)).toMatchObject({ kind: 'undone' })
    const back = rig.write('move', { folder: 'Junk', messages })
    const capture = await rig.capture(back)
    expect(await rig.execute(back, capture)).toMatchObject({ kind: 'executed' })
    expect(mail.list('Junk')).toHaveLength(1)
    expect(await rig.undo(back, capture)).toMatchObject({ kind: 'undone' })
    expect(stand(mail.list('Archive'))).toEqual(between)
    // A message that somebody filed since was not meant to be thrown away.
    await expect(rig.capture(rig.write('delete', { messages }))).rejects.toThrow('any more')
    // With a second copy nobody knows which is meant.
    mail.put('Junk', mail.list('Archive')[0]?.bytes ?? '')
    await expect(rig.capture(back)).rejects.toThrow('any more')
  })

  test('what is gone, or going where it is already, is refused before anything is done', async () => {
    await using box = await mailbox()
    const { rig } = box
    const messages = await rig.targets('INBOX')
    const capture = (operation: string, args: JsonObject) => rig.capture(rig.write(operation, args))
    await expect(capture('move', { folder: 'Nowhere', messages })).rejects.toThrow('no folder')
    await expect(capture('move', { folder: 'INBOX', messages })).rejects.toThrow('already')
    const another = messages.map((one) => ({ ...one, fingerprint: 'f'.repeat(24) }))
    await expect(capture('delete', { messages: another })).rejects.toThrow('any more')
    const late = messages.map((one) => ({ ...one, uid: 4_000, message_id: null }))
    await expect(capture('flag', { messages: late, add: [], remove: [] })).rejects.toThrow(
      'any more',
    )
    const deleted = rig.write('delete', { messages })
    await rig.execute(deleted, await rig.capture(deleted))
    await rig.sync()
    const inTrash = await rig.targets('Trash')
    await expect(capture('delete', { messages: inTrash })).rejects.toThrow('already')
  })

  test('a draft is put there once, and taken away again unless it was edited', async () => {
    await using box = await mailbox()
    const { rig, mail } = box
    const write = rig.write('draft', outgoing({ subject: 'Grüße', bcc: ['eve@example.net'] }))
    const capture = await rig.capture(write)
    expect(await rig.prove(write, capture)).toEqual({ kind: 'not_executed' })
    const done = await rig.execute(write, capture)
    expect(done.kind).toBe('executed')
    expect(mail.list('Drafts').map(({ flags }) => flags)).toEqual(['DS'])
    expect(mail.list('Drafts')[0]?.bytes.toString()).toContain('Bcc: eve@example.net')
    expect(await rig.prove(write, capture)).toMatchObject({ kind: 'executed' })
    const result = done.kind === 'executed' ? done.result : null
    expect(await rig.undo(write, capture, { ...result, fingerprint: 'another' })).toMatchObject({
      kind: 'refused',
    })
    expect(await rig.undo(write, capture, result)).toMatchObject({
      kind: 'undone',
      result: { removed: true },
    })
    expect(mail.list('Drafts')).toEqual([])
    expect(await rig.undo(write, capture, result)).toMatchObject({
      kind: 'undone',
      result: { removed: false },
    })
  })

  test('cut off in the middle, a move says that nobody knows, and is then proved', async () => {
    await using server = await Dovecot.start()
    await using gate = await TcpGate.open(server.imapPort)
    for (let n = 0; n < 5; n += 1) server.maildir().put('INBOX', raw(n))
    await using rig = await openRig({ imapPort: gate.port }, null)
    await rig.sync()
    const outcomes = new Set<string>()
    // Cut after ever more of the server's words: before, at and after the answer to the move.
    for (let afterBytes = 600; afterBytes < 9_000; afterBytes += 600) {
      const write = rig.write('move', { folder: 'Archive', messages: await rig.targets('INBOX') })
      const capture = await rig.capture(write)
      await rig.account[Symbol.asyncDispose]()
      gate.behave({ kind: 'cut', afterBytes })
      const outcome = await rig.execute(write, capture)
      outcomes.add(outcome.kind)
      gate.behave({ kind: 'pass' })
      await rig.account[Symbol.asyncDispose]()
      // On a busy machine the server is still at work on what it heard before the cut.
      await gate.serverDone()
      const proof = await rig.prove(write, capture)
      const moved = server.maildir().list('Archive').length
      expect(server.maildir().list('INBOX')).toHaveLength(5 - moved)
      if (outcome.kind === 'executed') expect(moved).toBe(5)
      if (outcome.kind === 'not_executed') expect(moved).toBe(0)
      expect(proof.kind).toBe(moved === 5 ? 'executed' : 'not_executed')
      const undone = moved === 5 ? await rig.undo(write, capture) : null
      if (undone)
        expect(undone, `${JSON.stringify(undone)}\n${await server.log()}`).toMatchObject({
          kind: 'undone',
        })
      await rig.sync()
      expect(server.maildir().list('INBOX')).toHaveLength(5)
    }
    expect([...outcomes].toSorted()).toEqual(['executed', 'not_executed', 'unknown'])
  })
})
