import { expect, test } from 'vitest'
import { addBundled } from './bill-of-materials.mjs'
import { lockSubset } from './lock-subset.mjs'
import { manPages } from './man-pages.mjs'
import { rewriteImports } from './rewrite-imports.mjs'
import { thirdPartyNotices } from './third-party-notices.mjs'

test('imports of our own packages become relative paths, and nothing else changes', () => {
  const resolve = (specifier) => `packages/contract/dist/${specifier.split('/')[2] ?? 'index'}.js`
  const file = 'packages/cli/dist/commands/serve.js'
  const text = `import { a } from '@gatehouse/contract'
export { b } from "@gatehouse/contract/errors"
import 'zod'
const c = await import('@gatehouse/contract/nearest')
const said = 'the package @gatehouse/contract'
`
  expect(
    rewriteImports(text, file, resolve),
  ).toBe(`import { a } from '../../../contract/dist/index.js'
export { b } from "../../../contract/dist/errors.js"
import 'zod'
const c = await import('../../../contract/dist/nearest.js')
const said = 'the package @gatehouse/contract'
`)
})

test('a lock of their own has the packages that are needed, as they are found', () => {
  const packages = {
    'node_modules/a': { version: '1.0.0', dependencies: { b: '^1' }, peerDependencies: { p: '1' } },
    'node_modules/a/node_modules/b': { version: '1.5.0', dependencies: { c: '*' } },
    'node_modules/b': { version: '2.0.0' },
    'node_modules/c': {
      version: '3.0.0',
      devOptional: true,
      optionalDependencies: { d: '1', e: '1' },
    },
    'node_modules/d': { version: '4.0.0', optional: true },
    'node_modules/p': { version: '5.0.0' },
    'node_modules/tool': { version: '6.0.0', dev: true },
  }
  expect(Object.keys(lockSubset(packages, { a: '1.0.0' }))).toEqual([
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c',
    'node_modules/d',
    'node_modules/p',
  ])
  expect(lockSubset(packages, { c: '3.0.0' })['node_modules/c']).not.toHaveProperty('devOptional')
  expect(() => lockSubset(packages, { missing: '1.0.0' })).toThrow('missing is not in')
})

test('each bundled library has its notice, or there is no release', () => {
  const library = { name: 'uplot', version: '1.6.32', identifier: 'MIT', text: 'The MIT License' }
  expect(thirdPartyNotices([library])).toContain(
    '## uplot 1.6.32\n\nLicense: MIT\n\nThe MIT License',
  )
  expect(() => thirdPartyNotices([{ name: 'nobody', version: '1.0.0' }])).toThrow('nobody')
  const bill = {
    metadata: { component: { 'bom-ref': 'own' } },
    components: [],
    dependencies: [{ ref: 'own', dependsOn: [] }],
  }
  expect(addBundled(bill, [library])).toMatchObject({
    components: [{ name: 'uplot', purl: 'pkg:npm/uplot@1.6.32' }],
    dependencies: [{ ref: 'own', dependsOn: ['bundled:uplot@1.6.32'] }],
  })
})

test('there is a manual page for each command, with the settings and what an exit code means', async () => {
  const pages = new Map((await manPages('2026-12-01')).map(({ file, text }) => [file, text]))
  expect(pages.get('gatehouse-approvals.1')).toMatch(/^\.SS approvals approve$/m)
  expect(pages.get('gatehouse-serve.1')).toContain('\\fB\\-\\-gateway\\-port\\fR')
  expect(pages.get('gatehouse.yaml.5')).toContain('GATEHOUSE_GATEWAY_PORT')
  expect(pages.get('gatehouse.1')).toContain('not reachable')
  // A line that begins with a dot is an order to the formatter.
  const orders = /^\.(?:TH|SH|SS|TP|PP|br|nf|fi)\b/
  for (const [file, text] of pages)
    for (const line of text.split('\n').filter((each) => each.startsWith('.')))
      expect([file, line]).toEqual([file, expect.stringMatching(orders)])
})
