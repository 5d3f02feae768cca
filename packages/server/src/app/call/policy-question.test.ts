import { expect, test } from 'vitest'
import { compileCondition } from '../../policy/cel.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { Capability } from '../../ports/capability.ts'
import type { Files } from '../../ports/files.ts'
import { buildQuestion } from './policy-question.ts'

const agent = { name: 'alpha', purpose: '', status: 'active' } as StoredAgent
const capability = {
  name: 'filesystem.read',
  paths: ['path'],
  entries: [],
} as unknown as Capability

/** Folders in which `link` leads to a secret, and a count of how often somebody had to look. */
const folders = () => {
  const seen = { looks: 0 }
  const files: Partial<Files> = {
    locate(path) {
      seen.looks++
      const leaf = path === 'link' ? 'secret' : path
      return { absolute: `/srv/alpha/${leaf}`, relative: leaf }
    },
    canLeadTo: (_path, beginning) => beginning.startsWith('/srv/alpha/'),
  }
  return { seen, contexts: { filesOf: () => files as Files } as never }
}

const ask = (source: string, args: Record<string, unknown>) => {
  const compiled = compileCondition(source)
  if (compiled.kind === 'problem') throw new Error(compiled.problem.message)
  const { seen, contexts } = folders()
  const question = buildQuestion(agent, null, 'filesystem.read', args, 0, { capability, contexts })
  return { holds: compiled.condition.evaluate(question), looks: seen.looks }
}

test.each([
  ['has(args.path) && args.path.startsWith("/never/")', { path: 'a' }, false, 0],
  ['args.path.startsWith("/never/")', { path: 'link' }, false, 0],
  ['!args.path.startsWith("/never/")', { path: 'a' }, true, 0],
  ['has(args.path)', { path: 'a' }, true, 0],
  ['args.path.startsWith("/srv/alpha/secret")', { path: 'link' }, true, 1],
  ['args.path.startsWith("/srv/alpha/secret")', { path: 'a' }, false, 1],
  ['args.path.startsWith("secret")', { path: 'link' }, true, 1],
  ['args.path.startsWith("/never/") || args.path == "/srv/alpha/a"', { path: 'a' }, true, 1],
  // An argument that is no path of the capability is compared as it was written.
  ['args.other.startsWith("/never/")', { path: 'a', other: '/never/b' }, true, 1],
])('%s of %j is %s after %i looks at the disk', (source, args, holds, looks) => {
  expect(ask(source, args)).toEqual({ holds, looks })
})

test('a path that is not there fails as it does where somebody looks', () => {
  expect(() => ask('args.path.startsWith("/never/")', {})).toThrow(/missing/)
})
