import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { questionCard } from '../question-card.ts'
import { readAnswer } from '../read-answer.ts'

type Action = 'accept' | 'decline' | 'cancel'

const actionOf = ({ decline, cancel }: { decline: boolean; cancel: boolean }): Action => {
  if (decline && cancel) throw usageError('--decline and --cancel are two answers: give one.')
  return decline ? 'decline' : cancel ? 'cancel' : 'accept'
}

const done: Readonly<Record<Action, string>> = {
  accept: 'has the answer, and its call goes on',
  decline: 'was told that nobody wants to answer',
  cancel: 'was told that there is no answer',
}

export const upstreamAnswer = defineCommand({
  name: 'upstream answer',
  summary: 'Show what a server asks, and answer it',
  args: { id: 'the question' },
  options: {
    values: {
      value: 'FILE',
      about: 'a JSON object with the values of the fields (- for the input)',
    },
    decline: { about: 'tell the server no' },
    cancel: { about: 'dismiss the question without an answer' },
  },
  examples: [
    'gatehouse upstream answer ques-01jqz4xk2m8v5w9r3t6y0b7n1c',
    'gatehouse upstream answer ques-01jqz4xk2m8v5w9r3t6y0b7n1c --values - < values.json',
    'gatehouse upstream answer ques-01jqz4xk2m8v5w9r3t6y0b7n1c --decline',
  ],
  async look({ api, io, note, json, views }, { id, values: file, ...given }) {
    const action = actionOf(given)
    const question = await api.showQuestion({ id })
    if (!json) await note(`${questionCard(question, views.stderr)}\n`)
    const isForm = action === 'accept' && question.fields.length > 0
    return { action, question, values: isForm ? await readAnswer(io, question, file) : null }
  },
  question(_input, { action, question: { kind, upstream } }) {
    if (action !== 'accept') return null
    return kind === 'url'
      ? 'Have you opened it, and done there what you meant to?'
      : `Send this answer to ${upstream}?`
  },
  // The id names what is answered, and the values are given with it.
  goesOnUnasked: true,
  run: ({ api }, { id }, { action, values }) =>
    api.answerQuestion({ id, action, ...(values === null ? {} : { values }) }),
  text: ({ question, action }) => `${question.upstream} ${done[action]}.`,
})
