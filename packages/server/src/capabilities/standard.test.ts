import { expect, test } from 'vitest'
import { standardCapabilities } from './standard.ts'

/** Names under which an argument has been a place so far. */
const looksLikePath =
  /^(path|root|source|destination|folder|directory|file|.*_(path|file|directory))s?$/

/** Places in a repository, whose own place is `path`; and a commit. Neither leads out of what `path` names. */
const inRepository = /^git\.\w+ (file|files|paths|source)$/

/** A mail folder is a place in a mailbox. */
const inMailbox = /^email\.\w+ folder$/

test('every argument that looks like a path is one for policy too', () => {
  const unmarked = standardCapabilities.flatMap(({ name, argument_names, paths }) =>
    argument_names
      .filter((argument) => looksLikePath.test(argument) && !paths.includes(argument))
      .map((argument) => `${name} ${argument}`)
      .filter((argument) => !inRepository.test(argument) && !inMailbox.test(argument)),
  )
  expect(unmarked).toEqual([])
  expect(standardCapabilities.find(({ name }) => name === 'filesystem.copy')?.paths).toEqual([
    'source',
    'destination',
  ])
})

test.each(standardCapabilities.map((capability) => [capability.name, capability] as const))(
  '%s tells an agent what it is for, when to use it, and what each argument is',
  (_name, { name, purpose, when_to_use, description, common_patterns, parse }) => {
    expect(name).toMatch(/^[a-z]+\.[a-z_]+$/)
    expect(purpose).toMatch(/^[A-Z].*\.$/s)
    expect(purpose.length).toBeLessThan(200)
    expect(when_to_use.length).toBeGreaterThan(10)
    // Only what agents keep may be anything.
    for (const entry of [...description.inputs, ...description.outputs])
      if (entry.name !== 'value') expect(entry).not.toMatchObject({ type: 'any' })
    expect(common_patterns.length).toBeGreaterThan(0)
    expect(new Set(common_patterns.map(({ title }) => title)).size).toBe(common_patterns.length)
    for (const pattern of common_patterns)
      expect(parse(pattern.arguments)).toMatchObject({ kind: 'valid' })
  },
)

test('what an example schedules can be called as well', () => {
  const scheduled = standardCapabilities
    .find(({ name }) => name === 'scheduler.create')
    ?.common_patterns.map(({ arguments: { capability, arguments: later = {} } }) => ({
      called: standardCapabilities.find(({ name }) => name === capability),
      later,
    }))
  expect(scheduled?.length).toBeGreaterThan(0)
  for (const { called, later } of scheduled ?? [])
    expect(called?.parse(later)).toMatchObject({ kind: 'valid' })
})

test('every capability with an effect shows a person what would happen', () => {
  const unseen = standardCapabilities.filter(
    ({ effect, preview }) => effect !== 'none' && preview === undefined,
  )
  // Nobody is asked about a call of this one: the call that it names takes its place.
  expect(unseen.map(({ name }) => name)).toEqual(['tools.call'])
})

/** Errors of a host or an account elsewhere. */
const elsewhere = new Set(['HostUnreachable', 'RemoteRefused', 'ServiceNotFound', 'UrlNotAllowed'])

test('what can fail for something elsewhere says that it reaches out', () => {
  const silent = standardCapabilities.filter(
    ({ reach, errors }) => reach === 'closed' && errors.some((error) => elsewhere.has(error)),
  )
  expect(silent.map(({ name }) => name)).toEqual([])
})
