import { counted } from '../ui/numbers.ts'

export const questionsText = {
  title: 'Questions of MCP servers',
  intro:
    'A call waits for each answer. Only the server gets it: the agent and its model see neither the question nor the answer.',
  heading: (server: string) => `${server} asks`,
  call: 'Call',
  callOf: (capability: string, agent: string) => `${capability} of ${agent}`,
  others: (count: number) =>
    `It runs ${counted(count, 'more call')}, and does not say for which of them it asks.`,
  asked: 'Asked',
  left: 'Time left:',
  over: 'none',
  words: 'The server says',
  opens: 'It asks you to open',
  opensNote: 'The address comes from the server. Nobody has opened or checked it.',
  open: (host: string) => `Open ${host}`,
  careful: 'Give the server only what it needs, and never another server’s secret.',
  secret: 'Not kept in the log.',
  choose: 'Choose…',
  noAnswer: 'No answer',
  yes: 'Yes',
  no: 'No',
  answer: 'Send the answer',
  opened: 'I have done it',
  decline: 'Decline',
  leave: 'Dismiss',
  done: {
    accept: (server: string) => `${server} has the answer, and its call goes on.`,
    decline: (server: string) => `${server} was told that nobody wants to answer.`,
    cancel: (server: string) => `${server} was told that there is no answer.`,
  },
} as const
