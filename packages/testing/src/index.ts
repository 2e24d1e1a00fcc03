export * from './scripted-model/index.ts'
