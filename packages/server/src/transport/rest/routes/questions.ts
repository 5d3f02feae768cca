import type { questionRoutes } from '@gatehouse/contract/routes/questions'
import type { Handlers } from '../handler.ts'

export const questionHandlers: Handlers<typeof questionRoutes> = {
  listQuestions: (op, app) => app.listQuestions(op),
  showQuestion: (op, app, { id }) => app.showQuestion(op, { question_id: id }),
  answerQuestion: (op, app, { id, ...answer }) =>
    app.answerQuestion(op, { question_id: id, ...answer }),
}
