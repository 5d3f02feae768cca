import { defineCommand } from '../define.ts'

export const alertsAck = defineCommand({
  name: 'alerts ack',
  summary: 'Acknowledge an alert',
  args: { id: 'the alert' },
  examples: ['gatehouse alerts ack alert-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  run: ({ api }, { id }) => api.acknowledgeAlert({ id }),
  text: ({ id, status, acknowledged_by }) =>
    acknowledged_by === null ? `${id} is ${status}.` : `${id} is ${status} by ${acknowledged_by}.`,
})
