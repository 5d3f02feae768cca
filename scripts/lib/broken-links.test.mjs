import { expect, test } from 'vitest'
import { brokenLinks } from './broken-links.mjs'

const check = (pages, files = []) =>
  brokenLinks(new Map(Object.entries(pages)), (file) => files.includes(file), 'README.md')

test('takes links to pages, headings, files and other sites', () => {
  const pages = {
    'README.md':
      '# A\n\n[guide](docs/guide/a.md#what-it-is-1) [code](src/a.ts) [b](https://b.example/#c) [top](#a)',
    'docs/guide/a.md':
      '# A\n\n## What it is\n\n## What `it` is\n\n![picture](../images/a.png) [up](../../README.md)',
  }
  expect(check(pages, ['src/a.ts', 'docs/images/a.png'])).toEqual([])
})

test('names links to what is not there, with their lines', () => {
  const pages = {
    'README.md': '# A\n\ntext\n\n[a](docs/a.md#no) [b](docs/b.md)\n',
    'docs/a.md': '# A\n\n[x](#nowhere) `[code](none.md)`\n',
  }
  expect(check(pages)).toEqual([
    'README.md:5 leads to docs/a.md#no, which has no such heading',
    'README.md:5 leads to docs/b.md, which is not there',
    'docs/a.md:3 leads to docs/a.md#nowhere, which has no such heading',
  ])
})

test('names pages that nothing leads to', () => {
  const pages = {
    'README.md': '[a](docs/a.md)',
    'docs/a.md': '',
    'docs/lost.md': '[r](../README.md)',
  }
  expect(check(pages)).toEqual(['docs/lost.md cannot be reached from README.md'])
})
