import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { createApplier } from './apply-messages.ts'

test('a page that was left while it was read is read again when somebody comes back after a change', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: 60_000 } } })
  const answers: ((text: string) => void)[] = []
  const read = {
    queryKey: ['showPolicies', {}],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
  }
  const first = new QueryObserver(client, read)
  const leave = first.subscribe(() => undefined)
  leave()
  createApplier(client)([{ kind: 'state', state: 'live' }])
  await expect.poll(() => client.isFetching()).toBe(0)
  answers[0]?.('as it was')
  const second = new QueryObserver(client, read)
  const done = second.subscribe(() => undefined)
  await expect.poll(() => answers.length).toBe(2)
  answers[1]?.('as it is')
  await expect.poll(() => second.getCurrentResult().data).toBe('as it is')
  done()
  client.clear()
})
