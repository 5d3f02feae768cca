import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Installation, pause, type Run } from '../support/server.ts'

/** A person who declines whatever the fixture asks, at once. */
export const openPerson = ({ dataDir }: Installation, { user_api_url }: Run): AsyncDisposable => {
  const token = readFileSync(join(dataDir, 'cli-token'), 'utf8').trim()
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${user_api_url}/api/questions${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return answer.json()
  }
  let isHere = true
  const sit = async (): Promise<void> => {
    while (isHere) {
      const { questions } = (await ask('')) as { questions: { id: string }[] }
      // One that its call took back meanwhile is gone, and needs no answer.
      for (const { id } of questions) await ask(`/${id}/answer`, { action: 'decline' })
      await pause(50)
    }
  }
  const sitting = sit()
  return {
    async [Symbol.asyncDispose]() {
      isHere = false
      await sitting
    },
  }
}
