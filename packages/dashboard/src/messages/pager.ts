export const pagerText = {
  label: 'Pages of the list',
  range: (from: string, to: string, total: string) => `${from}–${to} of ${total}`,
  previous: 'Previous',
  next: 'Next',
} as const
