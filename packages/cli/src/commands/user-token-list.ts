import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const userTokenList = defineCommand({
  name: 'user-token list',
  summary: 'List the user tokens, without the tokens themselves',
  examples: ['gatehouse user-token list'],
  run: ({ api }) => api.listUserTokens(),
  text: ({ user_tokens }, view) =>
    renderTable(
      [
        { title: 'ID', value: (token) => token.id },
        { title: 'ROLE', value: (token) => token.role },
        { title: 'LAST USED', time: (token) => token.last_used_at },
        { title: 'REVOKED', time: ({ revoked_at: at }) => at, none: 'no' },
        { title: 'LABEL', value: (token) => token.label, cut: true },
      ],
      user_tokens,
      view,
    ),
})
