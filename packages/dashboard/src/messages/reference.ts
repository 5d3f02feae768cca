export const referenceText = {
  title: 'REST API',
  intro:
    'Every operation with its parameters, bodies and answers. Programs send a user token and read the same from /api/openapi.json.',
  filter: 'Filter',
  filterHint: 'Words in the path, the name or the summary',
  failed: (status: number) => `The service answered ${status} instead of its description.`,
  none: 'No operation matches.',
  count: (shown: number, all: number) => `${shown} of ${all} operations`,
  parameters: 'Parameters',
  body: 'Body',
  answer: (status: string) => `Answer ${status}`,
} as const
