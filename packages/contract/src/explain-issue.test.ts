import { expect, test } from 'vitest'
import { z } from 'zod'
import { explainIssue } from './explain-issue.ts'
import { UpstreamName } from './upstream.ts'

const detailOf = (schema: z.ZodType, value: unknown): string | undefined => {
  const issue = schema.safeParse(value).error?.issues[0]
  return issue && explainIssue(issue, value, {})[0]?.detail
}

test('a form is explained in the words that it was given, and else by its pattern', () => {
  expect(detailOf(UpstreamName, 'Bad.Name')).toBe(
    'a name starts with a lowercase letter and has at most 31 of a-z, 0-9 and -.',
  )
  expect(detailOf(z.string().regex(/^a+$/), 'b')).toBe('must have the form /^a+$/.')
})
