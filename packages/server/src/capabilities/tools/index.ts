import { anyCapability, capabilityName, nameCharsMax } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../define.ts'

const version = '1.0'
const tier = 'autonomous'

const search = defineCapability({
  name: 'tools.search',
  title: 'Search tools',
  version,
  purpose: 'Find tools by words of what they do, the best first.',
  when_to_use: 'Describe a tool that fits with tools.describe, and call it with tools.call.',
  inputs: z.strictObject({
    query: z
      .string()
      .min(1)
      .max(200)
      .describe('Words for what you want to do, such as list issues'),
    limit: z.int().min(1).max(50).default(10),
  }),
  outputs: z.object({
    tools: z.array(
      z.object({ name: z.string(), purpose: z.string(), permission_tier: z.string() }),
    ),
    total: z.int().describe('How many fit, beyond the limit too'),
  }),
  tier,
  effect: 'none',
  common_patterns: [{ title: 'What can I do with issues?', arguments: { query: 'issues' } }],
  errors: [],
  run: (ctx, { query, limit }) => ctx.self.searchTools(query, limit),
})

const describe = defineCapability({
  name: 'tools.describe',
  title: 'Describe tool',
  version,
  purpose: 'Show all about one tool: its input schema, examples, side effects and errors.',
  when_to_use: 'Call it before tools.call for a tool that you have not called yet.',
  inputs: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(nameCharsMax)
      .overwrite(capabilityName)
      .describe('As tools.search tells it'),
  }),
  outputs: z.object({ definition: z.record(z.string(), z.unknown()) }),
  tier,
  effect: 'none',
  common_patterns: [{ title: 'How do I edit a file?', arguments: { name: 'filesystem.edit' } }],
  errors: [],
  run: (ctx, { name }) => ctx.self.describeTool(name),
})

const call = defineCapability({
  name: anyCapability,
  title: 'Call any tool',
  version,
  purpose: 'Call a tool by its name, also one that is not in your list.',
  when_to_use:
    'The answer, its tier and its limits are those of the named tool. Take the arguments from tools.describe.',
  inputs: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(nameCharsMax)
      .refine((name) => capabilityName(name) !== anyCapability, 'names tools.call itself')
      .describe('As tools.search tells it'),
    arguments: z.record(z.string(), z.unknown()).default({}).describe('Its arguments'),
  }),
  outputs: z.looseObject({}),
  tier,
  effect: 'immediate',
  reach: 'open',
  side_effects: [{ what: 'whatever the named tool does', reversible: false }],
  common_patterns: [
    {
      title: 'Read a file',
      arguments: { name: 'filesystem.read', arguments: { path: 'notes.md' } },
    },
  ],
  errors: [],
  run: () => Promise.reject(new Error('the gate replaces this call by the one that it names')),
})

export const toolCapabilities = [call, describe, search]
