import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import type { AgentServices } from '../../ports/agent-services.ts'
import { defineCapability } from '../define.ts'
import { findErrors, messageIdsField, serviceField, ticketFields, version } from './fields.ts'
import { foldersOf, openMailbox } from './mailbox.ts'
import { findMails, targetOf, targetsBinding, targetsPreview } from './targets.ts'

const inputs = z.strictObject({
  message_ids: messageIdsField,
  folder: z.string().min(1).max(1_000).describe('Where to, as email.folders names it.'),
  service: serviceField,
})

const resolveMove = async (services: AgentServices, args: z.output<typeof inputs>) => {
  const service = await openMailbox(services, args.service)
  const { folder } = args
  const folders = await foldersOf(service)
  if (!folders.some(({ path }) => path === folder))
    throw new GatehouseError('MailFolderNotFound', { folder })
  const found = await findMails(service, args.message_ids)
  const there = found.find((one) => one.folder === folder)
  if (there)
    throw new GatehouseError('MailRefused', {
      detail: `"${there.message.subject}" is in ${folder} already`,
    })
  return { service, found }
}

export const move = defineCapability({
  name: 'email.move',
  title: 'Move mail',
  version,
  purpose: 'Move messages to another folder; can be undone.',
  when_to_use: 'To throw mail away use email.delete. The message_id stays valid after the move.',
  inputs,
  outputs: z.object({ ...ticketFields, messages: z.int() }),
  tier: 'autonomous',
  notify: true,
  effect: 'buffered',
  reach: 'open',
  side_effects: [{ what: 'messages lie in another folder', reversible: true }],
  common_patterns: [
    {
      title: 'Archive a message',
      arguments: {
        message_ids: ['mail-0f3c5a7e9b1d2f4a6c8e0b1d-9d4e1f23-42'],
        folder: 'Archive',
      },
    },
  ],
  errors: [...findErrors, 'MailFolderNotFound', 'MailRefused', 'QuotaExceeded'],
  async preview(args, ctx) {
    const { found } = await resolveMove(ctx.services, args)
    return targetsPreview(`move to ${args.folder}`, found)
  },
  async resolve(args, ctx) {
    const { service, found } = await resolveMove(ctx.services, args)
    return targetsBinding(service, found)
  },
  async run(ctx, args) {
    const { service, found } = await resolveMove(ctx.services, args)
    const ticket = await service.buffer({
      operation: 'move',
      arguments: { folder: args.folder, messages: found.map(targetOf) },
    })
    const { write_id, status, execute_at, undo_until, undo_note } = ticket
    return { write_id, status, execute_at, undo_until, undo_note, messages: found.length }
  },
})
