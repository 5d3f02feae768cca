import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import PostalMime from 'postal-mime'
import { expect, onTestFinished, test } from 'vitest'
import type { Notice } from '../ports/notifier.ts'
import { createNotifier, type TargetSettings } from './notifier.ts'

const notice: Notice = {
  id: 'job-1',
  type: 'approval.pending',
  at: '2026-03-01T12:00:00.000Z',
  title: 'mailbot asks for email.send ä',
  text: 'Decide before tomorrow.\n.\nEnd',
  urgent: true,
  link: 'https://gate.example/#approvals/appr-1',
  data: { approval_id: 'appr-1' },
}

const passwordFile = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mail-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'password')
  writeFileSync(file, `${text}\n`, { mode: 0o600 })
  return file
}

const notifierFor = (url: string, change: Partial<TargetSettings> = {}) =>
  createNotifier(
    [
      {
        name: 'me',
        kind: 'mail',
        url,
        secretFile: null,
        events: ['approval.pending'],
        mail: {
          from: 'gate@home.example',
          to: ['ana@home.example', 'ben@home.example'],
          user: null,
        },
        ...change,
      },
    ],
    () => 0,
  )

const send = (notifier: ReturnType<typeof notifierFor>, change: Partial<Notice> = {}) =>
  notifier.send('me', { ...notice, ...change }, new AbortController().signal)

test('a notice arrives as a mail, whole, with its link', async () => {
  await using server = await SmtpReceiver.open()
  const notifier = notifierFor(`smtp://127.0.0.1:${server.port}`)
  expect(await send(notifier)).toMatchObject({ kind: 'delivered', status: 250 })
  expect(notifier.targets[0]?.origin).toBe(`smtp://127.0.0.1:${server.port}`)
  const [got] = server.deliveries
  expect(got).toMatchObject({
    from: 'gate@home.example',
    to: ['ana@home.example', 'ben@home.example'],
    bareLineEnds: false,
  })
  const mail = await PostalMime.parse(got?.raw ?? '')
  expect(mail.subject).toBe(notice.title)
  expect(mail.text?.trim()).toBe(`${notice.text}\n\n${notice.link}`)
})

test('one that is sent again is the same message', async () => {
  await using server = await SmtpReceiver.open()
  const notifier = notifierFor(`smtp://127.0.0.1:${server.port}`)
  await send(notifier)
  await send(notifier)
  expect(server.countOf('<job-1@gatehouse.localhost>')).toBe(2)
})

test('line breaks in a title make no header', async () => {
  await using server = await SmtpReceiver.open()
  await send(notifierFor(`smtp://127.0.0.1:${server.port}`), {
    title: 'innocent\r\nBcc: eve@evil.example\r\n\r\nbody',
  })
  expect(server.deliveries[0]?.to).toEqual(['ana@home.example', 'ben@home.example'])
  const mail = await PostalMime.parse(server.deliveries[0]?.raw ?? '')
  expect(mail.bcc ?? []).toEqual([])
  expect(mail.text).toContain(notice.text.slice(0, 10))
})

test('it logs in with the secret, and says so when that is refused, without the secret', async () => {
  await using server = await SmtpReceiver.open({ users: { gate: 'right horse' } })
  const url = `smtp://127.0.0.1:${server.port}`
  const mail = { from: 'gate@home.example', to: ['ana@home.example'], user: 'gate' }
  const good = { mail, secretFile: passwordFile('right horse') }
  expect(await send(notifierFor(url, good))).toMatchObject({ kind: 'delivered' })
  expect(server.deliveries[0]?.user).toBe('gate')
  const refused = await send(notifierFor(url, { mail, secretFile: passwordFile('wrong horse') }))
  expect(refused).toMatchObject({
    kind: 'failed',
    detail: 'the mail server refused user and password',
  })
  expect(JSON.stringify(refused)).not.toContain('horse')
})

test('a server elsewhere that offers no TLS is told nothing', async () => {
  await using server = await SmtpReceiver.open({ users: { gate: 'right horse' } })
  const mail = { from: 'gate@home.example', to: ['ana@home.example'], user: 'gate' }
  const settings = { mail, secretFile: passwordFile('right horse') }
  // Leads to this machine by a name that is not known to be it.
  const outcome = await send(notifierFor(`smtp://0.0.0.0:${server.port}`, settings))
  expect(outcome).toMatchObject({
    kind: 'failed',
    detail: expect.stringContaining('TLS') as string,
  })
  expect(server.deliveries).toHaveLength(0)
  expect(server.commands.join('\n')).not.toMatch(/AUTH|MAIL/)
})

test('a server that is not there, or does not want the receiver, is named by what it did', async () => {
  expect(await send(notifierFor('smtp://127.0.0.1:9'))).toMatchObject({
    kind: 'failed',
    detail: expect.stringContaining('it cannot be reached') as string,
  })
  await using server = await SmtpReceiver.open({
    unknown: ['ana@home.example', 'ben@home.example'],
  })
  expect(await send(notifierFor(`smtp://127.0.0.1:${server.port}`))).toMatchObject({
    kind: 'failed',
    status: 550,
  })
})
