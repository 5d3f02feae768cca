import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const sources = fileURLToPath(new URL('../../../dashboard/src/', import.meta.url))

/** Names reach the API through the client, which refuses those that a browser would resolve: client.test.ts. */
const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /(?<!\.test)\.tsx?$/.test(file),
)
const textOf = (file: string): string => readFileSync(join(sources, file), 'utf8')

test('the dashboard builds no address of the API from a name', () => {
  expect(files).toContain(join('pages', 'approvals', 'approvals.tsx'))
  const texts = files.map(textOf)
  const built = texts.flatMap((text) => text.match(/`\/api\/[^`]*\$\{[^`]*`/g) ?? [])
  // What stands behind the path of this one is a query that URLSearchParams wrote.
  expect(built).toEqual(['`/api/activity/stream${query}`'])
  for (const text of texts) expect(text).not.toMatch(/['"]\/api\/[^'"]*['"]\s*\+/)
})

/** What changes is told by the streams; pages.test.ts of the dashboard watches a page that does nothing. */
test('the dashboard asks for nothing again and again', () => {
  const repeating = files.filter((file) => /refetchInterval|setInterval/.test(textOf(file)))
  // The clocks that times and countdowns go by.
  expect(repeating).toEqual([join('ui', 'time.tsx')])
})
