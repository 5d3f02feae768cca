import { AnswerBody, AnsweredQuestion, Question, QuestionList } from '../question.ts'
import { defineRoutes } from './define-routes.ts'

export const questionRoutes = defineRoutes({
  listQuestions: {
    method: 'GET',
    path: '/api/questions',
    summary: 'What upstream servers ask people while a call waits for the answer',
    permission: 'read',
    answer: QuestionList,
  },
  showQuestion: {
    method: 'GET',
    path: '/api/questions/:id',
    summary: 'One question that waits for an answer',
    permission: 'read',
    answer: Question,
    errors: ['QuestionNotFound', 'QuestionWithdrawn'],
  },
  answerQuestion: {
    method: 'POST',
    path: '/api/questions/:id/answer',
    summary: 'Answer a question: the values go to the server that asks, and its call goes on',
    permission: 'approvals.decide',
    body: AnswerBody,
    answer: AnsweredQuestion,
    errors: ['QuestionNotFound', 'QuestionWithdrawn', 'AnswerRefused'],
  },
})
