import { defineCommand } from '../define.ts'
import { questionCard } from '../question-card.ts'

export const upstreamQuestions = defineCommand({
  name: 'upstream questions',
  summary: 'List the questions that servers ask people while a call waits',
  examples: ['gatehouse upstream questions', 'gatehouse upstream questions --json'],
  run: ({ api }) => api.listQuestions(),
  text: ({ questions }, view) =>
    questions.length === 0
      ? 'No server asks anything.'
      : questions
          .map(
            (question) =>
              `${questionCard(question, view)}\n\nAnswer it: ${view.next(`upstream answer ${question.id}`)}`,
          )
          .join('\n\n\n'),
})
