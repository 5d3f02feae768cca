import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { takeRecord } from './take-record.ts'

test('a login stands, whatever an older question for it is answered', async () => {
  const client = new QueryClient()
  const answers: ((whoami: string | null) => void)[] = []
  const queryKey = ['showSession', {}]
  client.setQueryData(queryKey, null)
  const login = new QueryObserver(client, {
    queryKey,
    queryFn: () => new Promise<string | null>((resolve) => answers.push(resolve)),
  })
  const leave = login.subscribe(() => undefined)
  await expect.poll(() => answers.length).toBe(1)
  takeRecord(client, queryKey, 'ana')
  answers[0]?.(null)
  await expect.poll(() => client.isFetching()).toBe(0)
  expect(login.getCurrentResult().data).toBe('ana')
  leave()
  client.clear()
})
