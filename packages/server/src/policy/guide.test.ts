import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { standardCapabilities } from '../capabilities/standard.ts'
import { compileCondition } from './cel.ts'
import { parsePolicyFile } from './parse-file.ts'
import { knownNamesOf } from './unknown-names.ts'

const guide = readFileSync(new URL('../../../../docs/guide/policy.md', import.meta.url), 'utf8')
const names = knownNamesOf(
  standardCapabilities.map(({ name }) => name),
  (name) => standardCapabilities.find((one) => one.name === name)?.argument_names ?? [],
)
const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '')

test('shows only policy files that are taken', () => {
  const id = { layer: 'organisation', file: 'organisation.yaml', agent: null } as const
  const parts = blocks.filter((text) => !text.startsWith('when:'))
  expect(parts).toHaveLength(7)
  for (const part of parts) {
    const text = part.includes('version: 1') ? part : `version: 1\n${part}`
    const whole = /^(rules|limits|tools):/m.test(text) ? text : `${text}rules: []\n`
    expect(parsePolicyFile(id, whole, names), whole).toMatchObject({ kind: 'ok' })
  }
})

test('shows only conditions that are taken', () => {
  const lines = blocks
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.trimStart().startsWith('when:'))
  expect(lines.length).toBeGreaterThan(6)
  for (const line of lines) {
    const { when } = parse(line) as { when: string }
    expect(compileCondition(when), line).toMatchObject({ kind: 'ok' })
  }
})
