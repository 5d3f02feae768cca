import { createIds } from '@gatehouse/server/platform/ids'
import type { JsonObject } from '@gatehouse/server/ports/json'
import { createMailAdapter } from '@gatehouse/server/proxy/adapters/mail/mail-adapter'
import { describeServiceAdapter } from '@gatehouse/testkit/fake-service'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { TcpGate } from '@gatehouse/testkit/mail-server/tcp-gate'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe } from 'vitest'
import {
  connectionTo,
  elsewhere,
  mailText,
  openRig,
  outgoing,
  plainSettings,
  stand,
} from '../mail/kit.ts'

const folders = ['INBOX', 'Archive', 'Trash', 'Drafts', 'Sent']

// Conformance of the mail adapter, against a real server.
describe.skipIf(!hasProgram('dovecot'))('mail', () => {
  describeServiceAdapter('mail', async () => {
    const server = await Dovecot.start()
    const smtp = await SmtpReceiver.open({ users: { [server.user]: server.password } })
    const gates = await Promise.all([TcpGate.open(server.imapPort), TcpGate.open(smtp.port)])
    const [imapGate, smtpGate] = gates
    const settings = plainSettings(imapGate.port, smtpGate.port)
    const ids = createIds()
    const mail = server.maildir()
    let count = 0
    const add = () => {
      count += 1
      mail.put(
        'INBOX',
        mailText({ Subject: `Letter ${count}`, 'Message-ID': `<l-${count}@x.example>` }),
      )
    }
    for (let n = 0; n < 3; n += 1) add()
    mail.put('Archive', mailText({ Subject: 'Old' }), ['\\Seen'])

    const change = (folder: string) =>
      elsewhere(server, folder, (client) => client.messageFlagsAdd('*', ['meanwhile'], {}))
    return {
      adapter: createMailAdapter(),
      connection: connectionTo(settings),
      wrong: { connection: connectionTo(settings, 'no-such-password'), secret: 'no-such-password' },
      writeId: () => ids.next('wr'),
      snapshot: async () => ({
        folders: folders.map((folder) => [folder, stand(mail.list(folder))]),
        taken: smtp.deliveries.map(({ message_id, to }) => [message_id, to]),
      }),
      samples: async () => {
        await using rig = await openRig(server, null)
        await rig.sync()
        const [a, b, c] = await rig.targets('INBOX')
        const one = (target: JsonObject | undefined) => ({ messages: target ? [target] : [] })
        return [
          { operation: 'send', arguments: outgoing() },
          { operation: 'reply', arguments: outgoing({ subject: 'Re: Hello' }) },
          { operation: 'forward', arguments: outgoing({ subject: 'Fwd: Hello' }) },
          { operation: 'draft', arguments: outgoing({ subject: 'Draft' }) },
          { operation: 'move', arguments: { folder: 'Archive', ...one(a) } },
          { operation: 'flag', arguments: { add: ['\\Flagged'], remove: [], ...one(b) } },
          { operation: 'delete', arguments: one(c) },
        ]
      },
      interfere: async ({ operation, arguments: args }) => {
        if (operation === 'move') await change('Archive')
        if (operation === 'delete') await change('Trash')
        if (operation === 'draft')
          await elsewhere(server, 'Drafts', async (client) => {
            await client.messageDelete('1:*')
            const edited = mailText({ 'Message-ID': String(args['message_id']) }, 'edited\r\n')
            await client.append('Drafts', edited, ['\\Draft'])
          })
        if (operation === 'flag') {
          const [target] = args['messages'] as readonly JsonObject[]
          await elsewhere(server, 'INBOX', (client) =>
            client.messageFlagsAdd(`${target?.['uid']}`, ['meanwhile'], { uid: true }),
          )
        }
      },
      add: async () => add(),
      reachable: async (yes) => {
        for (const gate of gates) await (yes ? gate.up() : gate.down())
      },
      async [Symbol.asyncDispose]() {
        for (const one of [...gates, smtp, server]) await one[Symbol.asyncDispose]()
      },
    }
  })
})
