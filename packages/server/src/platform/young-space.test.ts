import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { holdYoungSpace } from './young-space.ts'

/** As loading code does: nearly all of it lives on. */
const filling = `
  const { getHeapSpaceStatistics } = require('node:v8')
  const { parentPort } = require('node:worker_threads')
  const kept = []
  parentPort.on('message', () => {
    for (let i = 0; i < 500_000; i += 1) kept.push({ at: i, text: [i] })
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    parentPort.postMessage(young.space_size)
  })
  parentPort.postMessage('ready')
`

test('the young space stays small while it is held, and grows again afterwards', async () => {
  // Has a heap of its own, which nothing has made grow; what is set holds for all threads.
  const worker = new Worker(filling, {
    eval: true,
    resourceLimits: { maxYoungGenerationSizeMb: 96 },
  })
  const bytesAfterFilling = async (): Promise<number> => {
    worker.postMessage('fill')
    const [bytes] = await once(worker, 'message')
    return bytes as number
  }
  try {
    await once(worker, 'message')
    const letGrow = holdYoungSpace()
    try {
      expect(await bytesAfterFilling()).toBeLessThanOrEqual(4 * 2 ** 20)
    } finally {
      letGrow()
    }
    expect(await bytesAfterFilling()).toBeGreaterThan(8 * 2 ** 20)
  } finally {
    await worker.terminate()
  }
})
