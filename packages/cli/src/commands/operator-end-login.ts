import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const operatorEndLogin = defineCommand({
  name: 'operator end-login',
  summary: 'End one login of the dashboard now',
  args: { id: 'its id, as `operator logins` shows it' },
  examples: ['gatehouse operator end-login login-0c1d2e3f4a5b6c7d'],
  run: ({ api }, { id }) => api.endLogin({ id }),
  text: ({ id, name }) => `The login ${id} of ${escapeText(name)} has ended.`,
})
