import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import type { AgentServices } from '../../ports/agent-services.ts'
import { defineCapability } from '../define.ts'
import { findErrors, messageIdsField, serviceField, ticketFields, version } from './fields.ts'
import { openMailbox } from './mailbox.ts'
import { findMails, targetOf, targetsBinding, targetsPreview } from './targets.ts'

const keyword = z
  .string()
  .regex(/^[A-Za-z0-9$_-]{1,64}$/, 'a keyword has letters, digits, $, _ and -')

const inputs = z.strictObject({
  message_ids: messageIdsField,
  flags: z
    .strictObject({
      read: z.boolean().optional().describe('Whether they are read.'),
      flagged: z.boolean().optional().describe('Whether they are flagged (starred).'),
      answered: z.boolean().optional().describe('Whether they are answered.'),
      keywords: z
        .record(keyword, z.boolean())
        .optional()
        .describe('Keywords to set (true) or take away (false), such as {"todo": true}.'),
    })
    .describe('Fields to change; the others stay.'),
  service: serviceField,
})

const names = { read: '\\Seen', flagged: '\\Flagged', answered: '\\Answered' } as const

const changesOf = ({ flags }: z.output<typeof inputs>) => {
  const wanted: [string, boolean][] = [
    ...(['read', 'flagged', 'answered'] as const).flatMap((name): [string, boolean][] => {
      const value = flags[name]
      return value === undefined ? [] : [[names[name], value]]
    }),
    ...Object.entries(flags.keywords ?? {}),
  ]
  const add = wanted.flatMap(([name, value]) => (value ? [name] : []))
  const remove = wanted.flatMap(([name, value]) => (value ? [] : [name]))
  if (wanted.length === 0 || wanted.length > 32)
    throw new GatehouseError('MailRefused', {
      detail: wanted.length === 0 ? 'flags names nothing to change' : 'more than 32 flags at once',
    })
  return { add, remove }
}

const resolveFlag = async (services: AgentServices, args: z.output<typeof inputs>) => {
  const changes = changesOf(args)
  const service = await openMailbox(services, args.service)
  return { service, changes, found: await findMails(service, args.message_ids) }
}

const shown = ({ add, remove }: ReturnType<typeof changesOf>): string =>
  [...add.map((name) => `set ${name}`), ...remove.map((name) => `take away ${name}`)].join(', ')

export const flag = defineCapability({
  name: 'email.flag',
  title: 'Flag mail',
  version,
  purpose: 'Mark messages as read, unread, flagged or answered, or set keywords; can be undone.',
  when_to_use: 'To file mail use email.move.',
  inputs,
  outputs: z.object({ ...ticketFields, messages: z.int() }),
  tier: 'autonomous',
  notify: true,
  effect: 'buffered',
  reach: 'open',
  side_effects: [{ what: 'messages have other flags', reversible: true }],
  common_patterns: [
    {
      title: 'Mark as read',
      arguments: {
        message_ids: ['mail-0f3c5a7e9b1d2f4a6c8e0b1d-9d4e1f23-42'],
        flags: { read: true },
      },
    },
  ],
  errors: [...findErrors, 'MailRefused', 'QuotaExceeded'],
  async preview(args, ctx) {
    const { changes, found } = await resolveFlag(ctx.services, args)
    return targetsPreview(shown(changes), found)
  },
  async resolve(args, ctx) {
    const { service, found } = await resolveFlag(ctx.services, args)
    return targetsBinding(service, found)
  },
  async run(ctx, args) {
    const { service, changes, found } = await resolveFlag(ctx.services, args)
    const ticket = await service.buffer({
      operation: 'flag',
      arguments: { ...changes, messages: found.map(targetOf) },
    })
    const { write_id, status, execute_at, undo_until, undo_note } = ticket
    return { write_id, status, execute_at, undo_until, undo_note, messages: found.length }
  },
})
