import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { counted } from './counted.ts'

test('gives a count the noun that agrees with it', () => {
  expect([0, 1, 2].map((count) => counted(count, 'byte'))).toEqual(['0 bytes', '1 byte', '2 bytes'])
  expect(counted(1, 'entry', 'entries')).toBe('1 entry')
})

const nouns =
  'agents approvals bytes calls entries files lines messages packages secrets sessions tokens warnings'
const bare = new RegExp(
  `\\$\\{(?!counted)[^}]*(?<!M(?:ax|in))\\} (?:${nouns.replaceAll(' ', '|')})\\b(?!/)`,
)

test('is used wherever a sentence counts something', async () => {
  const folder = import.meta.dirname
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )
  expect(files.length).toBeGreaterThan(100)
  const found: string[] = []
  for (const file of files)
    for (const line of (await readFile(join(folder, file), 'utf8')).split('\n'))
      if (bare.test(line)) found.push(`${file}: ${line.trim()}`)
  expect(found).toEqual([])
})
