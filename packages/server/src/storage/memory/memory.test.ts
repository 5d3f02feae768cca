import { describeStorage } from '@gatehouse/testkit'
import { openMemory } from './open.ts'

describeStorage('memory', async () => {
  const storage = await openMemory()
  return { storage, [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose]() }
})
