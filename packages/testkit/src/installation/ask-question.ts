import type { Question } from '@gatehouse/contract'
import type { Kit } from '../kit.ts'
import { seeded } from './seeds.ts'

/** Has `mailbot` call a tool of the upstream server that asks a person first, and returns what it asks. */
export const askQuestion = async (kit: Kit): Promise<Question> => {
  let heard: (question: Question) => void = () => {}
  const asked = new Promise<Question>((resolve) => {
    heard = resolve
  })
  using _listening = kit.app.subscribeQuestions((question) => heard(question))
  const id = await kit.pending('mailbot', `${seeded.upstream}.list_notes`, { ask: true })
  await kit.decide(id, 'approve')
  return await asked
}
