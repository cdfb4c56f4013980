"""Forms: conversion of typed text to the fields of the API's requests."""
