"""The mathematics and the machinery of certified prediction sets; knows neither the web nor the queue."""
