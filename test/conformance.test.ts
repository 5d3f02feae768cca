import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { foreignProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { openDoor, type Rename } from './conformance/door.ts'
import { openPerson } from './conformance/person.ts'
import { runWholeSuite, type SpecVersion } from './conformance/run-suite.ts'
import { openUpstream } from './conformance/upstream.ts'
import { Installation } from './support/server.ts'

const suite = foreignProgram('conformance')

type Expected = {
  readonly version: SpecVersion
  readonly reason: string
  /** `SCENARIO CHECK` each. */
  readonly checks: readonly string[]
}

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const expectedFailures = JSON.parse(read('conformance/expected-failures.json')) as Expected[]

/** The suite calls plain names and addresses; behind the gate they have that of their server. Nothing else changes. */
const fixtureNames: Rename = {
  toGate: (name) =>
    name.startsWith('test://')
      ? `upstream://fixture/${name}`
      : /^(test|json_schema)_/.test(name)
        ? `fixture__${name}`
        : name,
  toSuite: (text) =>
    text.replaceAll('"name":"fixture__', '"name":"').replaceAll('upstream://fixture/', ''),
}

/**
 * Scenarios, and checks of others, that call something which a server has for the suite alone. Our own tools have nothing
 * to do with them.
 */
const needsFixture = (scenario: string, check: string): boolean =>
  /^(tools-call-|json-schema-|elicitation-|resources-|prompts-|completion-|caching|http-custom-|input-required-result-(?!unsupported))/.test(
    scenario,
  ) ||
  /^sep-2575-(server-rejects-undeclared-capability|missing-capability-http-400|http-server-no-independent-requests-on-stream|server-no-log-without-loglevel)$/.test(
    check,
  )

const addFixture = async (gate: Installation, url: string): Promise<void> => {
  await gate.json(['upstream', 'add', 'fixture', '--yes', '--url', url])
  const file = join(gate.dataDir, 'organisation.draft.yaml')
  writeFileSync(file, 'version: 1\nrules:\n  - {match: "fixture.*", tier: autonomous}\n')
  await gate.json(['policy', 'set', file, '--yes'])
}

/** What the guide says of a revision: the scenarios that ran, and those of them in which no check failed. */
const figuresInGuide = (version: SpecVersion): readonly number[] => {
  const row = new RegExp(`^\\| ${version} +\\| (\\d+) +\\| (\\d+) +\\|$`, 'm')
  const found = row.exec(read('../docs/guide/mcp.md'))
  return found ? found.slice(1).map(Number) : []
}

describe.skipIf(!suite)('the official conformance suite', () => {
  const runs = (['2025-11-25', '2026-07-28'] as const).flatMap((version) =>
    (['own', 'fixture'] as const).map((tools) => ({ version, tools })),
  )
  test.each(runs)(
    '$version, $tools tools: fails what is listed, and nothing else',
    async ({ version, tools }) => {
      if (!suite) return
      await using upstream = await openUpstream()
      await using gate = new Installation()
      await using door = await openDoor(tools === 'own' ? null : fixtureNames)
      const run = await gate.start([
        ...['--outbound-private-targets', new URL(upstream.url).host],
        ...['--allowed-origins', new URL(door.url).origin],
      ])
      const { token } = await gate.createAgent('suite')
      door.leadTo(run.gateway_url, token)
      if (tools === 'fixture') await addFixture(gate, upstream.url)
      await using _person = openPerson(gate, run)

      const listed = new Set(
        expectedFailures
          .filter((one) => tools === 'fixture' && one.version === version)
          .flatMap(({ checks }) => checks),
      )
      const isMeant = (scenario: string, check: string) =>
        tools === 'fixture' || !needsFixture(scenario, check)
      const outcome = await runWholeSuite(
        suite,
        door.url,
        version,
        (scenario, check) => !isMeant(scenario, check) || listed.has(`${scenario} ${check}`),
      )
      const failed = new Map<string, string>(
        [...outcome].flatMap(([name, checks]) =>
          [...checks]
            .filter(([check]) => isMeant(name, check))
            .map(([check, message]) => [`${name} ${check}`, message]),
        ),
      )
      const unexpected = [...failed].filter(([check]) => !listed.has(check))
      expect(unexpected, 'these failed and are not listed').toEqual([])
      const passed = [...listed].filter((check) => !failed.has(check))
      expect(passed, 'these are listed and passed: take them off the list').toEqual([])
      if (tools === 'own') return
      const clean = [...outcome.values()].filter((checks) => checks.size === 0)
      expect([outcome.size, clean.length], 'docs/guide/mcp.md has other figures').toEqual(
        figuresInGuide(version),
      )
    },
  )
})
