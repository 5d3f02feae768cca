import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createKit } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createRestApp } from '../../src/transport/rest/create-rest-app.ts'

const folder = fileURLToPath(new URL('../../../../packaging/monitoring/', import.meta.url))
const read = (name: string): string => readFileSync(`${folder}${name}`, 'utf8')

type Rules = {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[]
}
type Board = {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

const alerts = (parse(read('alerts.yml')) as Rules).groups.flatMap(({ rules }) => rules)
const panels = (JSON.parse(read('grafana.json')) as Board).panels
const expressions = [
  ...alerts.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]

/** Names of series that a text of Prometheus has, and of those that a histogram makes. */
const seriesIn = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
    ),
  )

test('alert rules and the board ask for metrics that a running service has', async () => {
  await using kit = await createKit()
  const silent = () => undefined
  const rest = createRestApp({
    app: kit.app,
    version: '1.2.3',
    ids: { next: (prefix) => `${prefix}-00000000000000000000000000` },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  })
  const owner = { label: 'prometheus', role: 'viewer' } as const
  const { token } = await kit.app.createUserToken(kit.operator(), owner)
  const headers = { authorization: `Bearer ${token}` }
  const answer = await rest.fetch(new Request('http://gatehouse.localhost/metrics', { headers }))
  const series = seriesIn(await answer.text())
  const asked = new Set(
    expressions.flatMap((expr) => expr.match(/\b(?:gatehouse|nodejs|process)_\w+/g) ?? []),
  )
  expect(asked.size).toBeGreaterThan(15)
  expect([...asked].filter((name) => !series.has(name))).toEqual([])
})

test.skipIf(!hasProgram('promtool'))('alert rules are valid, and fire when they should', () => {
  for (const [words, file] of [
    ['check rules', 'alerts.yml'],
    ['test rules', 'alerts.test.yml'],
    ['check config --syntax-only', 'prometheus.yml'],
  ] as const) {
    const { status, stdout, stderr } = spawnSync('promtool', [...words.split(' '), file], {
      cwd: folder,
    })
    expect([file, status, `${stdout}${stderr}`]).toEqual([file, 0, expect.any(String)])
  }
})

test.skipIf(!hasProgram('promtool'))('each panel asks in the language of Prometheus', () => {
  const rules = panels.flatMap(({ targets }) =>
    targets.map(({ expr }, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    })),
  )
  const place = mkdtempSync(join(tmpdir(), 'gatehouse-board-'))
  const file = join(place, 'panels.json')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
  const checked = spawnSync('promtool', ['check', 'rules', '--lint=none', file])
  rmSync(place, { recursive: true })
  expect([checked.status, `${checked.stdout}${checked.stderr}`]).toEqual([0, expect.any(String)])
})
