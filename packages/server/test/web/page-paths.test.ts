import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const sources = fileURLToPath(new URL('../../../dashboard/src/', import.meta.url))

/** Names reach the API through the client, which refuses those that a browser would resolve: client.test.ts. */
test('the dashboard builds no address of the API from a name', () => {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.tsx?$/.test(file),
  )
  expect(files).toContain(join('pages', 'approvals', 'approvals.tsx'))
  const texts = files.map((file) => readFileSync(join(sources, file), 'utf8'))
  const built = texts.flatMap((text) => text.match(/`\/api\/[^`]*\$\{[^`]*`/g) ?? [])
  // What stands behind the path of this one is a query that URLSearchParams wrote.
  expect(built).toEqual(['`/api/activity/stream${query}`'])
  for (const text of texts) expect(text).not.toMatch(/['"]\/api\/[^'"]*['"]\s*\+/)
})
