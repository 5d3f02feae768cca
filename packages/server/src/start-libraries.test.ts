import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const imported = /^(?:import|export)(?! type)(?:[^;'"]*? from)? '([^']+)'/gm

const libraryOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** Libraries that are loaded with a source of the server, as it is written: `import()` comes later. */
const librariesOf = (entry: URL): readonly string[] => {
  const seen = new Set([entry.href])
  const libraries = new Set<string>()
  for (const href of seen) {
    for (const [, specifier = ''] of readFileSync(new URL(href), 'utf8').matchAll(imported)) {
      if (specifier.startsWith('.')) seen.add(new URL(specifier, href).href)
      else if (!specifier.startsWith('node:')) libraries.add(libraryOf(specifier))
    }
  }
  return [...libraries].toSorted()
}

test('a start loads these libraries, and every other one with its first use', () => {
  expect(librariesOf(new URL('main.ts', import.meta.url))).toEqual([
    '@gatehouse/contract',
    '@marcbachmann/cel-js',
    '@photostructure/sqlite',
    'chokidar',
    'croner',
    'diff',
    'ipaddr.js',
    'kysely',
    'pino',
    're2js',
    'safe-stable-stringify',
    'ws',
    'yaml',
    'zod',
  ])
})
