import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BufferedWrite, ProxyService } from '@gatehouse/contract'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import type { StoredMail } from '@gatehouse/testkit/mail-server/maildir'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { Installation, invoke, pause, type Run } from './support/server.ts'

const kills = process.env['GATEHOUSE_FULL'] === '1' ? 500 : 3
const sendsPerLife = 4
const letters = 12

const policy = `version: 1
rules:
  - { match: "email.*", tier: autonomous }
limits:
  - { match: "email.*", limit: 100000, window: 1m }
`
const delays = ['send', 'move', 'delete', 'flag'].map((name) => `mail.${name}=0s`).join(',')

const letter = (n: number) =>
  `From: ben@example.net\r\nSubject: Letter ${n}\r\nMessage-ID: <l-${n}@example.net>\r\n\r\nHello ${n}.\r\n`

const subjectsOf = (list: readonly StoredMail[]): string[] =>
  list.map(({ bytes }) => /^Subject: (.*)\r$/m.exec(bytes.toString())?.[1] ?? '')

class Operator {
  readonly #installation: Installation
  run: Run

  constructor(installation: Installation, run: Run) {
    this.#installation = installation
    this.run = run
  }

  async ask<T>(method: string, path: string, body?: object): Promise<T> {
    const token = readFileSync(join(this.#installation.dataDir, 'cli-token'), 'utf8').trim()
    const response = await fetch(`${this.run.user_api_url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  async service(): Promise<ProxyService | undefined> {
    const { services } = await this.ask<{ services: ProxyService[] }>('GET', '/api/proxy/status')
    return services[0]
  }

  async writes(): Promise<BufferedWrite[]> {
    const all: BufferedWrite[] = []
    for (let total = 1; all.length < total; ) {
      const page = await this.ask<{ writes: BufferedWrite[]; total: number }>(
        'GET',
        `/api/proxy/writes?status=all&limit=500&offset=${all.length}`,
      )
      all.push(...page.writes)
      total = page.total
      if (page.writes.length === 0) break
    }
    return all
  }
}

/** When a life ends: before a mail is taken, between that and the answer, after it, or during moves. */
const momentOf = (life: number, smtp: SmtpReceiver, moved: ReadonlySet<string>) => {
  const { deliveries, connections } = smtp
  const [taken, moves] = [deliveries.length, moved.size]
  const mails = (count: number, thenMs: number) => ({
    reached: () => deliveries.length >= taken + count,
    thenMs,
  })
  const random = (life * 61) % 150
  const moments = [
    mails(1, 0),
    { reached: () => moved.size >= moves + 2, thenMs: random },
    mails(2, 60),
    mails(sendsPerLife, random),
    { reached: () => smtp.connections > connections, thenMs: random / 5 },
    mails(3, 15),
  ]
  return moments[life % moments.length] ?? mails(1, 0)
}

const countsOf = (names: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Moves a letter to the other folder; the id of the write where it was acknowledged. */
const moveLetter = async (run: Run, token: string, query: string): Promise<string | null> => {
  const found = await invoke(run, token, 'email.search', { query })
  const [message] = (found.result?.data?.['messages'] ?? []) as {
    message_id: string
    folder: string
  }[]
  if (!message) return null
  const folder = message.folder === 'INBOX' ? 'Archive' : 'INBOX'
  const args = { message_ids: [message.message_id], folder }
  const { result } = await invoke(run, token, 'email.move', args)
  return result?.success ? String(result.data?.['write_id']) : null
}

/** Sends mail and moves letters to and fro until the server dies under it; what it acknowledged is in `sent`. */
const useUntilDead = async (
  run: Run,
  token: string,
  life: number,
  { sent, moved }: { readonly sent: Map<string, string>; readonly moved: Set<string> },
) => {
  try {
    for (let n = 0; n < sendsPerLife; n += 1) {
      const subject = `life ${life} mail ${n}`
      const { result } = await invoke(run, token, 'email.send', {
        to: ['ben@example.net'],
        subject,
        body: 'x',
      })
      if (result?.success) sent.set(String(result.data?.['write_id']), subject)
    }
    // Each letter once a life: what is on its way already would only be refused.
    for (let n = 0; n < letters; n += 1) {
      const writeId = await moveLetter(run, token, `"letter ${(life * 5 + n) % letters}"`)
      if (writeId !== null) moved.add(writeId)
    }
    for (;;) {
      await invoke(run, token, 'email.folders')
      await pause(20)
    }
  } catch {
    // The connection ended in the middle: nothing was acknowledged.
  }
}

describe.skipIf(!hasProgram('dovecot'))('mail and a server that is killed', () => {
  test(`after ${kills} kills no mail was delivered twice, none is lost unreported, no letter is gone or doubled`, {
    timeout: 400_000 + kills * 8_000,
  }, async () => {
    await using server = await Dovecot.start()
    await using smtp = await SmtpReceiver.open({
      users: { [server.user]: server.password },
      answersAfterMs: 40,
    })
    for (let n = 0; n < letters; n += 1) server.maildir().put('INBOX', letter(n))
    await using gate = new Installation()
    const flags = ['--proxy-delays', delays, '--proxy-burst-limit', '1000000']
    const operator = new Operator(gate, await gate.start(flags))
    const { token } = await gate.createAgent('mailbot')
    writeFileSync(join(gate.dataDir, 'mail.yaml'), policy)
    await gate.cli(['policy', 'set', '--agent', 'mailbot', join(gate.dataDir, 'mail.yaml')])
    await operator.ask('POST', '/api/proxy/services', {
      kind: 'mail',
      settings: {
        address: server.user,
        imap_host: '127.0.0.1',
        imap_port: server.imapPort,
        imap_security: 'plain',
        smtp_host: '127.0.0.1',
        smtp_port: smtp.port,
        smtp_security: 'plain',
      },
      secrets: { password: server.password },
      agents: ['mailbot'],
    })
    await expect.poll(async () => (await operator.service())?.status).toBe('connected')

    const sent = new Map<string, string>()
    const moved = new Set<string>()
    for (let life = 1; life <= kills; life += 1) {
      const moment = momentOf(life, smtp, moved)
      const using = useUntilDead(operator.run, token, life, { sent, moved })
      while (!moment.reached()) await pause(1)
      await pause(moment.thenMs)
      await gate.kill()
      await using
      operator.run = await gate.start(flags)
    }

    const pending = ['buffered', 'executing']
    await expect
      .poll(
        async () => (await operator.writes()).filter(({ status }) => pending.includes(status)),
        { interval: 250 },
      )
      .toEqual([])
    const writes = await operator.writes()
    const counts = countsOf(
      smtp.deliveries.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())?.[1] ?? ''),
    )
    expect([...counts].filter(([, count]) => count > 1)).toEqual([])
    for (const [id, subject] of sent) {
      const write = writes.find((one) => one.id === id)
      const count = counts.get(subject) ?? 0
      if (write?.status === 'executed') expect(count, subject).toBe(1)
      else expect(write, subject).toMatchObject({ status: 'failed', dead_letter: true })
    }
    const known = new Set<string>(writes.map(({ id }) => id))
    expect([...moved].filter((id) => !known.has(id))).toEqual([])
    // Every letter is in one place, once, whatever became of the moves.
    const places = ['INBOX', 'Archive', 'Trash'].map((name) => server.maildir().list(name))
    expect(places.flatMap(subjectsOf).toSorted()).toEqual(
      Array.from({ length: letters }, (_, n) => `Letter ${n}`).toSorted(),
    )
    const summary = countsOf(
      writes.map(({ operation, status, error }) =>
        `${operation} ${status} ${error?.type ?? ''}`.trim(),
      ),
    )
    console.log(`${kills} kills, ${smtp.deliveries.length} mails delivered`, summary)
    expect(await gate.stop()).toBe(0)
    expect((await gate.cli(['audit', 'verify'])).code).toBe(0)
  })
})
