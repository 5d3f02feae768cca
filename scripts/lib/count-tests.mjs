/**
 * Counts a report of vitest. As one failure each also count: a file that did not load, and a run that
 * failed although no test did (an error outside of any test). `troubles` says which.
 */
export const countTests = (report, vitestCode) => {
  const tests = report.testResults.flatMap((file) => file.assertionResults)
  const of = (...states) => tests.filter((test) => states.includes(test.status)).length
  const troubles = report.testResults
    .filter(
      (file) =>
        file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    )
    .map((file) => `Failed as a file: ${file.name}`)
  if (vitestCode !== 0 && of('failed') + troubles.length === 0) {
    troubles.push('Failed outside of the tests; see the errors above.')
  }
  return {
    passed: of('passed'),
    failed: of('failed') + troubles.length,
    skipped: of('skipped', 'pending', 'todo', 'disabled'),
    troubles,
  }
}
