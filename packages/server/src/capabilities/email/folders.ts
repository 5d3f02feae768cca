import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { freshnessField, serviceErrors, serviceField, version } from './fields.ts'
import { foldersOf, freshnessOf, openMailbox } from './mailbox.ts'

export const folders = defineCapability({
  name: 'email.folders',
  title: 'List mail folders',
  version,
  purpose: 'List the folders of a mailbox, their purpose and unread counts.',
  when_to_use:
    'Call it before email.move, or to search in one folder. For messages use email.search.',
  inputs: z.strictObject({ service: serviceField }),
  outputs: z.object({
    folders: z.array(
      z.object({
        folder: z.string(),
        use: z
          .string()
          .nullable()
          .describe('inbox, sent, drafts, trash, junk, archive, all, flagged; null for any other.'),
        messages: z.int(),
        unread: z.int(),
      }),
    ),
    service: freshnessField,
  }),
  tier: 'autonomous',
  effect: 'none',
  reach: 'open',
  common_patterns: [{ title: 'All folders', arguments: {} }],
  errors: [...serviceErrors],
  async run(ctx, args) {
    const service = await openMailbox(ctx.services, args.service)
    const list = await foldersOf(service)
    const counts = new Map(
      (await service.collections('unread')).map((one) => [one.collection, one]),
    )
    return {
      folders: list.map(({ path, use }) => ({
        folder: path,
        use,
        // Count of the copy, which is what a search finds.
        messages: counts.get(path)?.entries ?? 0,
        unread: counts.get(path)?.with_flag ?? 0,
      })),
      service: freshnessOf(service),
    }
  },
})
